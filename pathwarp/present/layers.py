# SPDX-License-Identifier: Apache-2.0
"""Where the nodes of a network are drawn: in layers from the sender on the left to the receiver on the right.

Sugiyama's way: layers, then an order within each that crosses few lines. A line over several layers gets a bend in each
of those between, which takes a place there as a node does.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pathwarp.plan.network import Network

_SWEEPS = 12
# The nodes of a layer that has few are up to this much further apart.
_LOOSEST = 1.8

Place = tuple[float, float]


@dataclass(frozen=True)
class Drawing:
    """Node to its place, link to the places that its line passes; layers are 1 apart across, rows 1 apart down."""

    nodes: Mapping[str, Place]
    lines: Mapping[str, Sequence[Place]]

    @property
    def extent(self) -> tuple[float, float]:
        """How many layers and rows there are, less one."""
        places = [place for line in (self.nodes.values(), *self.lines.values()) for place in line]
        return max(x for x, _ in places), max(abs(y) for _, y in places) * 2


def lay_out(network: Network, ends: Mapping[str, tuple[str, str]]) -> Drawing:
    """Find the places of all nodes and links; `ends` are the nodes that each link joins."""
    layer = _layers(network, ends)
    stops = {link: list(_stops(link, near, far, layer, _middle(network, link))) for link, (near, far) in ends.items()}
    neighbours: dict[str, list[str]] = {node: [] for node in layer}
    for passed in stops.values():
        for near, far in pairwise(passed):
            neighbours.setdefault(near, []).append(far)
            neighbours.setdefault(far, []).append(near)
    rows = _rows(layer, neighbours)
    # What is named first stands at the top.
    places = {node: (float(layer[node]), -rows[node]) for node in layer}
    nodes = [node for node in (*network.hosts, *network.routers) if node not in _hidden(network)]
    return Drawing(
        {node: places[node] for node in nodes}, {link: [places[n] for n in on] for link, on in stops.items()}
    )


def _hidden(network: Network) -> set[str]:
    """Nodes in the middle of links, which the file doesn't name."""
    return {node for node in network.routers if "." in node}


def _middle(network: Network, link: str) -> str:
    """The node in the middle of a link that has one."""
    near = [end for cable in network.cables for end in cable if end.link == link]
    return near[1].node if len(near) == 4 else ""


def _layers(network: Network, ends: Mapping[str, tuple[str, str]]) -> dict[str, int]:
    """Node to layer: how far it is from the sender, in links; hosts beside the main ones on the side of their paths."""
    sender, receiver = network.hosts[:2]
    beside: dict[str, list[str]] = {}
    for near, far in ends.values():
        beside.setdefault(near, []).append(far)
        beside.setdefault(far, []).append(near)
    layer, front = {sender: 0}, [sender]
    while front:
        node = front.pop(0)
        # Hosts forward nothing.
        for other in [] if node in network.hosts and node != sender else beside.get(node, []):
            if other not in layer:
                layer[other] = layer[node] + 1
                front.append(other)
    # What no link leads to stands at the left.
    layer |= {node: 0 for node in (*network.hosts, *network.routers) if node not in layer}
    for route in network.routes:
        for way in (route, route.backwards()):
            if way.nodes[0] in network.hosts[2:] and len(way.nodes) > 2:
                towards = layer[way.nodes[-2]] - layer[way.nodes[1]]
                leftmost = towards > 0 or (towards == 0 and way is route)
                layer[way.nodes[0]] = layer[way.nodes[1]] + (-1 if leftmost else 1)
    layer[receiver] = max([layer[receiver], *(layer[node] for node in network.routers)])
    layer[receiver] += any(layer[node] == layer[receiver] for node in beside.get(receiver, []))
    # Nodes in the middle stand between their neighbours, which need room for that.
    scale = 2 if any(_middle(network, link) for link in ends) else 1
    found = {node: number * scale for node, number in layer.items() if node in beside or node not in _between(network)}
    lowest = min(found.values())
    return {node: number - lowest for node, number in found.items()}


def _between(network: Network) -> set[str]:
    """All nodes in the middle of links."""
    return {_middle(network, end.link) for cable in network.cables for end in cable}


def _stops(link: str, near: str, far: str, layer: dict[str, int], middle: str) -> Iterator[str]:
    """The nodes and bends that a link's line passes; adds those that have no layer yet."""
    yield near
    step = 1 if layer[far] > layer[near] else -1
    between = list(range(layer[near] + step, layer[far], step))
    half = len(between) // 2
    for index, number in enumerate(between or [layer[near]] * bool(middle)):
        bend = middle if middle and index == half else f"{link}:{index}"
        layer[bend] = number
        yield bend
    yield far


def _rows(layer: Mapping[str, int], neighbours: Mapping[str, list[str]]) -> dict[str, float]:
    """Node to row, 0 in the middle: each layer is put in the order of where its nodes' neighbours are, to and fro."""
    columns: dict[int, list[str]] = {}
    for node, number in layer.items():
        columns.setdefault(number, []).append(node)
    row = {node: place for column in columns.values() for node, place in _centred(column).items()}
    order = sorted(columns)
    for sweep in range(_SWEEPS):
        for number in order if sweep % 2 == 0 else reversed(order):
            side = -1 if sweep % 2 == 0 else 1
            before = dict(row)

            def wanted(node: str, number: int = number, side: int = side, before: dict[str, float] = before) -> float:
                near = [other for other in neighbours[node] if (layer[other] - number) * side > 0]
                near = near or neighbours[node]
                return sum(before[other] for other in near) / len(near) if near else before[node]

            columns[number].sort(key=wanted)
            row |= _centred(columns[number])
    tallest = max(len(column) for column in columns.values()) - 1
    for column in columns.values():
        spread = min(max(tallest / max(len(column) - 1, 1), 1.0), _LOOSEST)
        row |= {node: place * spread for node, place in _centred(column).items()}
    return row


def _centred(column: Sequence[str]) -> dict[str, float]:
    return {node: index - (len(column) - 1) / 2 for index, node in enumerate(column)}
