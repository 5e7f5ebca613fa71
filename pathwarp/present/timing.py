# SPDX-License-Identifier: Apache-2.0
"""Timing diagrams of a recovery, drawn from the packets of a trial (closer19, Fig. 5 and 8)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pathwarp.present import style

NS_PER_MS = 1_000_000
Kind = Literal["original", "probe", "retransmission", "reinjection", "ack"]


@dataclass(frozen=True)
class PacketEvent:
    """A packet on a path. Times in ns since the epoch; `arrived_ns` is None for a lost one.

    `direction` is "down" from server to client. `offset` is where in the stream its `length` bytes of payload begin,
    counted from the first byte of the affected burst. `label` replaces the words made from the kind.
    """

    path: str
    direction: Literal["down", "up"]
    sent_ns: int
    arrived_ns: int | None
    offset: int
    length: int
    kind: Kind
    label: str = ""


@dataclass(frozen=True)
class Recovery:
    """What one trial shows: the packets around the affected burst, and its three instants in ns since the epoch.

    `start_ns` is the burst's first packet. `completed_ns` is None where the burst never completed. `failed_path` is one
    of `paths`, whose order is that of the drawing. `ends` are sender and receiver of the data. `flight_ns` is the usual
    time between them on each path: how steep a packet that is lost is drawn.
    """

    variant: str
    paths: tuple[str, ...]
    events: tuple[PacketEvent, ...]
    start_ns: int
    completed_ns: int | None
    failed_path: str
    failed_ns: int
    ends: tuple[str, str] = ("server", "client")
    flight_ns: Mapping[str, int] = field(default_factory=dict)

    def ms(self, instant_ns: int) -> float:
        """Time since the burst's first packet."""
        return (instant_ns - self.start_ns) / NS_PER_MS

    @property
    def completion_ms(self) -> float | None:
        return None if self.completed_ns is None else self.ms(self.completed_ns)


def draw(recoveries: Sequence[Recovery], title: str, subtitle: str, out_dir: Path, name: str) -> list[Path]:
    """Diagrams side by side on one time axis, the gain of each over the first marked.

    Time runs downward in ms since the affected burst's first packet. Per path there is a line for the server and one
    for the client; packets are arrows between them and end in a cross where they are lost.
    """
    from pathwarp.present import lanes

    window = _window(recoveries)
    widths = [lanes.width_in(recovery) for recovery in recoveries]
    with style.canvas(_LEFT_IN + sum(widths) + 0.1, _HEIGHT_IN + _TOP_IN + _BOTTOM_IN) as figure:
        left = _LEFT_IN
        for i, (recovery, width) in enumerate(zip(recoveries, widths, strict=True)):
            axes = style.area(
                figure,
                left_in=left,
                right_in=figure.get_figwidth() - left - width,
                top_in=_TOP_IN,
                bottom_in=_BOTTOM_IN,
            )
            _time_axis(axes, window, is_first=i == 0)
            lanes.draw(axes, recovery, window, reference=recoveries[0] if i else None)
            left += width
        style.heading(figure, title, subtitle)
        style.legend(figure, *lanes.legend(recoveries))
        return style.save(figure, out_dir, name)


_LEFT_IN, _TOP_IN, _BOTTOM_IN, _HEIGHT_IN = 0.75, 1.3, 0.45, 5.6


def _window(recoveries: Sequence[Recovery]) -> tuple[float, float]:
    """First and last ms shown: all bursts from their first packet to a little after the last completion.

    The failure is shown where it is not much earlier than the first packet, relative to what follows it.
    """
    ends = [recovery.completion_ms for recovery in recoveries if recovery.completion_ms is not None]
    # Where nothing completes: as far as there are packets.
    ends = ends or [recovery.ms(event.sent_ns) for recovery in recoveries for event in recovery.events] or [1.0]
    span = max(*ends, 1.0)
    failed = [recovery.ms(recovery.failed_ns) for recovery in recoveries]
    near = [ms for ms in failed if -0.25 * span <= ms <= span]
    # Above the first packet there is room for the words that the failure was earlier.
    return min([0.0, *near]) - (0.05 if near else 0.1) * span, 1.1 * span


def _time_axis(axes: Any, window: tuple[float, float], is_first: bool) -> None:
    axes.set_ylim(window[1], window[0])
    axes.set_xticks([])
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0, labelleft=is_first)
    if is_first:
        axes.set_ylabel("ms since the affected burst's first packet")
