# SPDX-License-Identifier: Apache-2.0
"""The drawing of a topology: nodes, links with the shape of each direction, and the paths along them."""

from collections.abc import Iterator, Sequence
from math import atan2, cos, degrees, sin
from pathlib import Path
from textwrap import shorten
from typing import Any

from pathwarp.model.schema.graph import AnyLink, AnyTopology
from pathwarp.model.schema.topology import Shape
from pathwarp.plan.network import Network, build
from pathwarp.present.layers import Place, lay_out
from pathwarp.present.style import INK, QUIET, canvas, heading, save

_LAYER_IN, _ROW_IN = 2.9, 0.72
_LEFT_IN, _TOP_IN, _FOOT_IN = 0.7, 0.6, 0.25
_LEAST_IN = 6.0
_MOST_PATHS, _PATH_IN = 24, 0.17
_HOST, _ROUTER = "#DCEAF7", "#F2F2F2"
# Of a link, in points: its name lies on the line, what it does to packets on either side of it.
_OFFSET = 8
_BOX = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
_RATES = (("Gbit/s", 10**9), ("Mbit/s", 10**6), ("kbit/s", 10**3), ("bit/s", 1))
_TIMES = (("s", 10**9), ("ms", 10**6), ("us", 10**3))


def draw(topology: AnyTopology, out_dir: Path) -> list[Path]:
    """Draw a topology as NAME.svg and NAME.png in a folder; the files. Raises Complaints where one can't be written."""
    network = build(topology)
    drawing = lay_out(network, topology.ends())
    across, down = drawing.extent
    paths = list(_paths(network))
    width = max(across * _LAYER_IN + 2 * _LEFT_IN, _LEAST_IN)
    foot = _FOOT_IN + _PATH_IN * (len(paths) + 1)
    height = (down + 1) * _ROW_IN + _TOP_IN + foot
    with canvas(width, height) as figure:
        heading(figure, f"{topology.name}", topology.title)
        axes = figure.add_axes((0, foot / height, 1, (down + 1) * _ROW_IN / height))
        axes.set_axis_off()
        room = (width - across * _LAYER_IN) / 2 / _LAYER_IN
        axes.set_xlim(-room, across + room)
        axes.set_ylim(-(down + 1) / 2, (down + 1) / 2)
        main = {link for route in network.paths(*network.hosts[:2]) for link in route.links}
        for name, link in topology.wires().items():
            is_outward = topology.ends()[name][1] in network.hosts
            look = INK if name in main else QUIET
            _draw_link(axes, name, link, drawing.lines[name], topology.middle(name), is_outward, look)
        for node, place in drawing.nodes.items():
            _draw_node(axes, node, place, node in network.hosts, node in network.hosts[:2])
        for index, line in enumerate(["paths", *paths]):
            figure.text(
                0.15 / width,
                (foot - 0.1 - index * _PATH_IN) / height,
                shorten(line, int(width * 13), placeholder=" …"),
                fontsize=8,
                color=INK if index else QUIET,
                va="top",
            )
        return save(figure, out_dir, topology.name)


def shape_words(shape: Shape) -> str:
    """A direction's shape in words: `20 Mbit/s · 6 ms ± 1 ms pareto · 100 packets · 1 % loss`."""
    jitter = shape.jitter if shape.jitter and shape.jitter.spread_ns else None
    varies = f" ± {_time(jitter.spread_ns)} {jitter.kind}" if jitter else ""
    parts = [_rate(shape.rate_bit_s), _time(shape.delay_ns) + varies, f"{shape.queue_packets} packets"]
    if shape.loss and shape.loss.mean_fraction:
        burst = f" in bursts of {shape.loss.burst_packets:g}" if shape.loss.burst_packets else ""
        parts.append(f"{100 * shape.loss.mean_fraction:g} % loss{burst}")
    return " · ".join(parts)


def _words(link: AnyLink, way: str) -> str:
    shape = getattr(link, way)
    trace = link.traces().get(way)
    followed = f"trace {trace.file} · {shape.queue_packets} packets" if trace else ""
    return followed or (shape_words(shape) if shape else "")


def _draw_link(
    axes: Any, name: str, link: AnyLink, line: Sequence[Place], middle: str | None, is_outward: bool, look: str
) -> None:
    """A link's line with its name and what each direction does: above it what goes right, below what goes left.

    Where the link has a middle, each direction stands on the side to which it leaves it. `is_outward`: its second end
    is a host's.
    """
    width = 1.6 if look == INK else 1.0
    axes.plot(*zip(*line, strict=True), color=look, linewidth=width, solid_joinstyle="round", zorder=1)
    half, odd = divmod(len(line) - 1, 2)
    forward = line[-1][0] >= line[0][0]
    arrows = {"down": "→" if forward else "←", "up": "←" if forward else "→"}
    words = {way: f"{arrow} {_words(link, way)}" for way, arrow in arrows.items() if _words(link, way)}
    if odd:
        ends = line[half], line[half + 1]
        # Lines to hosts often cross in the middle, and what does nothing has a short label.
        share = 0.5 if words else 0.78 if is_outward else 0.22
        _write(axes, ends, name, 0, share, bold=True)
        for way, text in words.items():
            _write(axes, ends, text, _OFFSET if arrows[way] == "→" else -_OFFSET)
        return
    sides = {"down": (line[half], line[half + 1]), "up": (line[half - 1], line[half])}
    for way, text in words.items():
        _write(axes, sides[way], f"{name} {text}" if middle else text, _OFFSET - 1)
    if not middle:
        x, y = line[half]
        axes.text(x, y, name, bbox=_BOX, fontsize=7.5, fontweight="bold", ha="center", va="center", zorder=2)


def _write(
    axes: Any, ends: tuple[Place, Place], text: str, above: float, share: float = 0.5, bold: bool = False
) -> None:
    """Write along a line, this many points above it, at a share of the way from its first end."""
    place = tuple(near + (far - near) * share for near, far in zip(*ends, strict=True))
    (x, y), (right, top) = sorted(ends)
    across, up = (right - x) * _LAYER_IN, (top - y) * _ROW_IN
    angle = atan2(up, across)
    axes.annotate(
        text,
        place,
        (-above * sin(angle), above * cos(angle)),
        textcoords="offset points",
        fontsize=7.5 if bold else 6.5,
        fontweight="bold" if bold else "normal",
        ha="center",
        va="center",
        rotation=degrees(angle),
        rotation_mode="anchor",
        bbox=_BOX if bold else None,
        zorder=2,
    )


def _draw_node(axes: Any, node: str, place: Place, is_host: bool, is_main: bool) -> None:
    box: dict[str, Any] = {
        "boxstyle": "round,pad=0.35" if is_host else "square,pad=0.3",
        "facecolor": _HOST if is_host else _ROUTER,
    }
    box |= {"edgecolor": INK if is_main else QUIET, "linewidth": 1.2 if is_main else 0.8}
    weight = "bold" if is_main else "normal"
    axes.text(*place, node, fontsize=8.5, fontweight=weight, ha="center", va="center", bbox=box, zorder=3)


def _paths(network: Network) -> Iterator[str]:
    """A line for each path; of many only the first ones."""
    for route in network.routes[:_MOST_PATHS]:
        nodes = list(route.nodes[:1])
        for link, node in zip(route.links, route.nodes[1:], strict=True):
            nodes += [f"({link})", node]
        yield f"{route.path}: {' '.join(nodes)}"
    if len(network.routes) > _MOST_PATHS:
        yield f"and {len(network.routes) - _MOST_PATHS} more"


def _rate(rate_bit_s: int) -> str:
    unit, per = next(((name, per) for name, per in _RATES if rate_bit_s >= per), _RATES[-1])
    return f"{rate_bit_s / per:g} {unit}"


def _time(delay_ns: int) -> str:
    unit, per = next(((name, per) for name, per in _TIMES if delay_ns >= per), ("ms", 1_000_000))
    return f"{delay_ns / per:g} {unit}"
