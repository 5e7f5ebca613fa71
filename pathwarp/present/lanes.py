# SPDX-License-Identifier: Apache-2.0
"""One trial's panel of a timing diagram. Across, one unit is an inch; down, a millisecond."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pathwarp.base.units import NS_PER_MS
from pathwarp.measure.kinds.kind import PacketKind
from pathwarp.measure.recovery import PacketEvent, Recovery
from pathwarp.present import style
from pathwarp.present.groups import FEW, Group, data_events, group, path_words, words
from pathwarp.present.spread import spread

FAILED, DEAD = "#9C2A1B", "#F7ECE8"
MARK = "#7B3294"
ARROWS_UP_TO = 24  # packets of a kind; more of them are thin lines without heads

_GUTTER_IN, _LANE_IN, _MARGIN_IN = 1.3, 1.05, 1.05
_LINE_IN = 0.135  # of label text
_GRID = {"color": style.PALE, "linewidth": 0.6, "zorder": 0.6}
_TEXT = {"fontsize": 8, "linespacing": 1.1}


def width_in(recovery: Recovery) -> float:
    return len(recovery.paths) * (_GUTTER_IN + _LANE_IN) + _MARGIN_IN


def draw(axes: Any, recovery: Recovery, window: tuple[float, float], reference: Recovery | None) -> None:
    """Draw a panel; where `reference` is given, mark how much sooner than there the burst completes."""
    axes.set_xlim(0, width_in(recovery))
    ticks = [tick for tick in axes.get_yticks() if window[0] <= tick <= window[1]]
    axes.hlines(ticks, _ends(recovery, recovery.paths[0])[0], _ends(recovery, recovery.paths[-1])[1], **_GRID)
    shown = [e for e in recovery.events if window[0] <= recovery.ms(e.sent_ns) <= window[1]]
    for path in recovery.paths:
        _lines(axes, recovery, window, path)
        of_path = [event for event in shown if event.path == path]
        flight_ms = recovery.flight_ns.get(path, 0) / NS_PER_MS
        for kind in _kinds(of_path):
            events = [event for event in of_path if event.kind == kind]
            _packets(axes, recovery, events, kind, flight_ms)
        _labels(axes, recovery, window, path)
    if recovery.mark_ns is not None:
        left, right = _ends(recovery, recovery.paths[0])[0], _ends(recovery, recovery.paths[-1])[1]
        look = {"color": MARK, "linewidth": 0.9, "zorder": 1.5}
        axes.hlines(recovery.ms(recovery.mark_ns), left - 0.12, right + 0.12, **look)
    _completion(axes, recovery, window, reference)
    above = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "annotation_clip": False}
    axes.annotate(
        recovery.variant, (_ends(recovery, recovery.paths[0])[0], 1), (0, 34), fontsize=10, fontweight="bold", **above
    )


def legend(recoveries: Sequence[Recovery]) -> tuple[list[Any], list[str]]:
    """Handles and words for the kinds that occur, and for a loss."""
    from matplotlib.lines import Line2D

    kinds = _kinds(event for recovery in recoveries for event in recovery.events)
    lost = any(event.arrived_ns is None for recovery in recoveries for event in recovery.events)
    handles = [Line2D([], [], color=kind.colour, linewidth=1.4) for kind in kinds]
    labels = [kind.legend for kind in kinds]
    if lost:
        handles.append(Line2D([], [], color=style.INK, linestyle="", marker="x", markersize=5))
        labels.append("lost")
    return handles, labels


def _kinds(events: Iterable[PacketEvent]) -> list[PacketKind]:
    """The kinds that occur, in the order in which they are drawn."""
    return sorted({event.kind for event in events}, key=lambda kind: kind.drawn)


def _ends(recovery: Recovery, path: str) -> tuple[float, float]:
    """Where the lines of server and client are."""
    server = recovery.paths.index(path) * (_GUTTER_IN + _LANE_IN) + _GUTTER_IN
    return server, server + _LANE_IN


def _lines(axes: Any, recovery: Recovery, window: tuple[float, float], path: str) -> None:
    server, client = _ends(recovery, path)
    above = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "annotation_clip": False}
    for x, name in zip((server, client), recovery.ends, strict=True):
        axes.vlines(x, *window, color=style.INK, linewidth=1.1)
        axes.annotate(name, (x, 1), (0, 4), ha="center", fontsize=8, color=style.QUIET, **above)
    axes.annotate(path_words(path), ((server + client) / 2, 1), (0, 17), ha="center", fontsize=9, **above)
    failed = _failed_ms(recovery, path, window)
    if failed is None:
        return
    axes.fill_between([server, client], max(failed, window[0]), window[1], color=DEAD, linewidth=0, zorder=0.5)
    if failed >= window[0]:
        axes.hlines(failed, server - 0.12, client + 0.12, color=FAILED, linewidth=1.6, zorder=5)


def _failed_ms(recovery: Recovery, path: str, window: tuple[float, float]) -> float | None:
    """When the path failed; None when it has not by the end of what is shown."""
    if path != recovery.failed_path or recovery.failed_ns is None:
        return None
    failed = recovery.ms(recovery.failed_ns)
    return failed if failed <= window[1] else None


_BACKING = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "boxstyle": "square,pad=0.1"}


def _packets(axes: Any, recovery: Recovery, events: Sequence[PacketEvent], kind: PacketKind, flight_ms: float) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.patches import FancyArrowPatch

    colour, many = kind.colour, len(events) > ARROWS_UP_TO
    segments, crosses = [], []
    for event in events:
        begin, end = _ends(recovery, event.path)
        begin, end = (begin, end) if event.direction == "down" else (end, begin)
        sent = recovery.ms(event.sent_ns)
        if event.arrived_ns is None:
            end = (begin + end) / 2
            crosses.append((end, sent + flight_ms / 2))
            segments.append([(begin, sent), crosses[-1]])
        else:
            segments.append([(begin, sent), (end, recovery.ms(event.arrived_ns))])
    width, zorder = (1.3, 3) if kind.carries_data else (0.7, 2)
    if many:
        thin = LineCollection(segments, colors=colour, linewidths=0.4 * width, alpha=0.6, zorder=zorder)
        axes.add_collection(thin, autolim=False)
    for (tail, head), event in zip(segments, events, strict=True) if not many else ():
        look: dict[str, Any] = {"color": colour, "linewidth": width, "shrinkA": 0, "shrinkB": 0, "zorder": zorder}
        shape = "-" if event.arrived_ns is None else "-|>"
        axes.add_patch(FancyArrowPatch(tail, head, arrowstyle=shape, mutation_scale=5 + 3 * width, **look))
    if crosses:
        size, edge = (3, 0.6) if many else (6, 1.6)
        xs, ys = zip(*crosses, strict=True)
        axes.plot(xs, ys, "x", color=colour, markersize=size, markeredgewidth=edge, zorder=4)


def _labels(axes: Any, recovery: Recovery, window: tuple[float, float], path: str) -> None:
    """Labels left of a path's server line, moved apart, each tied by a thin line to the packets that it names."""
    few = len(data_events(recovery, window)) <= FEW
    named = [_Label.of(g, recovery, few) for g in group(recovery, window, path)]
    if recovery.mark_ns is not None and path == recovery.paths[0]:
        at = recovery.ms(recovery.mark_ns)
        named.append(_Label(f"first difference\n{at:.1f} ms", MARK, at, at))
    failed = _failed_ms(recovery, path, window)
    if failed is not None:
        at = max(failed, window[0])
        when = f"{failed:.1f} ms" if failed >= 0 else f"{-failed:.1f} ms before"
        named.append(_Label(f"{path_words(path)} fails\n{when}", FAILED, at, at))
    lines = max((label.text.count("\n") + 1 for label in named), default=1)
    height = (lines + 0.4) * _LINE_IN * _ms_per_in(axes, window)
    middles = [(label.begin + label.end) / 2 for label in named]
    places = spread(middles, height, window[0] + height / 2, window[1] - height / 2)
    server, _ = _ends(recovery, path)
    for label, middle, place in zip(named, middles, places, strict=True):
        if label.end > label.begin:
            axes.vlines(server - 0.05, label.begin, label.end, color=label.colour, linewidth=2.2)
        tie = [server - 0.03, server - 0.1, server - 0.2]
        axes.plot(tie, [middle, middle, place], color=label.colour, linewidth=0.6)
        axes.text(server - 0.23, place, label.text, ha="right", va="center", color=label.colour, bbox=_BACKING, **_TEXT)


def _ms_per_in(axes: Any, window: tuple[float, float]) -> float:
    return (window[1] - window[0]) / (axes.get_figure().get_figheight() * axes.get_position().height)


@dataclass(frozen=True)
class _Label:
    """What is written beside a server's line, and the ms that it is about."""

    text: str
    colour: str
    begin: float
    end: float

    @classmethod
    def of(cls, g: Group, recovery: Recovery, few: bool) -> "_Label":
        begin, end = (recovery.ms(event.sent_ns) for event in (g.events[0], g.events[-1]))
        return cls(words(g, recovery, few), g.kind.colour, begin, end)


def _completion(axes: Any, recovery: Recovery, window: tuple[float, float], reference: Recovery | None) -> None:
    """A line where the burst completes; the gain over the reference as a double arrow from here to there."""
    left, right = _ends(recovery, recovery.paths[0])[0], _ends(recovery, recovery.paths[-1])[1]
    done = recovery.completion_ms
    if not recovery.has_burst:
        return
    if done is None:
        axes.annotate(
            "burst never\ncompletes", (right, window[1]), (8, 4), textcoords="offset points", va="bottom", **_TEXT
        )
        return
    look = {"color": style.INK, "linewidth": 1.0, "zorder": 1.5}
    other = reference.completion_ms if reference else None
    axes.hlines(done, left, right + 0.95, linestyles=(0, (6, 2)), **look)
    axes.plot([right], [done], marker="D", markersize=5, color=style.INK, zorder=5)
    above, below = {"xytext": (8, 3), "va": "bottom"}, {"xytext": (8, -3), "va": "top"}
    # Each label stands outside of the gain's arrow.
    own, others = (above, below) if other is None or done <= other else (below, above)
    beside = {"textcoords": "offset points", **_TEXT}
    axes.annotate(f"burst complete\n{done:.1f} ms", (right, done), **own, **beside)
    if reference is None or other is None:
        return
    axes.hlines(other, left, right + 0.95, linestyles=(0, (1, 2)), **look)
    change = abs(other - done)
    amount, share = f"{change:.1f} ms", f"({100 * change / other:.0f} %)"
    if round(change, 1) == 0:
        axes.annotate(f"as {reference.variant}", (right, other), **others, **beside, fontweight="bold")
        return
    if change < 4 * _LINE_IN * _ms_per_in(axes, window):
        told = f"gain {amount}" if done < other else f"{amount} later"
        axes.annotate(f"{told}\n{share}", (right, other), **others, **beside, fontweight="bold")
        return
    axes.annotate(reference.variant, (right, other), **others, **beside)
    x = right + 0.2
    ends = {"arrowstyle": "<|-|>", "color": style.INK, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 9}
    axes.annotate("", (x, other), (x, done), arrowprops=ends)
    told = f"{'gain' if done < other else 'later by'}\n{amount}\n{share}"
    axes.text(x + 0.1, (done + other) / 2, told, va="center", fontweight="bold", bbox=_BACKING, **_TEXT)
