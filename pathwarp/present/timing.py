# SPDX-License-Identifier: Apache-2.0
"""Timing diagrams of a recovery, drawn from the packets of a trial (closer19, Fig. 5 and 8)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pathwarp.measure.recovery import Recovery
from pathwarp.present import lanes, style


def draw(
    recoveries: Sequence[Recovery], title: str, subtitle: str, out_dir: Path, name: str, stacked: bool = False
) -> list[Path]:
    """Diagrams side by side, or one above the other, in one scale of time, the gain of each over the first marked.

    Time runs downward in ms since the burst's first packet. Per path there is a line for the server and one
    for the client; packets are arrows between them and end in a cross where they are lost.
    """
    window = _window(recoveries)
    widths = [lanes.width_in(recovery) for recovery in recoveries]
    height = _STACKED_IN if stacked else _HEIGHT_IN
    steps = [(0.0, height + _GAP_IN) if stacked else (width, 0.0) for width in widths]
    lefts, tops = ([sum(step[axis] for step in steps[:i]) for i in range(len(steps))] for axis in (0, 1))
    across = _LEFT_IN + max(left + width for left, width in zip(lefts, widths, strict=True)) + 0.1
    with style.canvas(across, _TOP_IN + tops[-1] + height + _BOTTOM_IN) as figure:
        for i, (recovery, width, left, top) in enumerate(zip(recoveries, widths, lefts, tops, strict=True)):
            axes = style.area(
                figure,
                left_in=_LEFT_IN + left,
                right_in=across - _LEFT_IN - left - width,
                top_in=_TOP_IN + top,
                bottom_in=_BOTTOM_IN + tops[-1] - top,
            )
            _time_axis(axes, window, is_first=left == 0, has_burst=recovery.has_burst)
            lanes.draw(axes, recovery, window, reference=recoveries[0] if i else None)
        style.heading(figure, title, subtitle)
        style.legend(figure, *lanes.legend(recoveries))
        return style.save(figure, out_dir, name)


_LEFT_IN, _TOP_IN, _BOTTOM_IN, _HEIGHT_IN = 0.75, 1.3, 0.45, 5.6
_STACKED_IN, _GAP_IN = 4.4, 0.95  # the height of one of several above each other, and what is between them


def _window(recoveries: Sequence[Recovery]) -> tuple[float, float]:
    """First and last ms shown: all bursts from their first packet to a little after the last completion.

    A mark is shown wherever it is, the failure where it is not much earlier than the first packet, relative to what
    follows it.
    """
    ends = [recovery.completion_ms for recovery in recoveries if recovery.completion_ms is not None]
    # Where nothing completes: as far as there are packets.
    ends = ends or [recovery.ms(event.sent_ns) for recovery in recoveries for event in recovery.events] or [1.0]
    marks = [recovery.ms(recovery.mark_ns) for recovery in recoveries if recovery.mark_ns is not None]
    span = max(*ends, *marks, 1.0)
    failed = [recovery.ms(recovery.failed_ns) for recovery in recoveries if recovery.failed_ns is not None]
    near = [ms for ms in failed if -0.25 * span <= ms <= span] + [ms for ms in marks if ms < 0]
    near += [-0.2 * span for recovery in recoveries if not recovery.has_burst]
    # Above the first packet there is room for the words that the failure was earlier.
    return min([0.0, *near]) - (0.05 if near else 0.1) * span, 1.1 * span


def _time_axis(axes: Any, window: tuple[float, float], is_first: bool, has_burst: bool) -> None:
    axes.set_ylim(window[1], window[0])
    axes.set_xticks([])
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0, labelleft=is_first)
    if is_first:
        axes.set_ylabel("ms since the burst's first packet" if has_burst else "ms since the first difference")
