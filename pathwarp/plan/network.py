# SPDX-License-Identifier: Apache-2.0
"""The network as the guest sets it up: nodes, cables, addresses, and where each direction of a link is shaped.

A host's own interface is never shaped: a queue there would hold its packets back from its captures. Where a link's
direction leaves a host, a node of its own in the middle of the link shapes it, which is all that the short form has.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from pathwarp.model.routes import Route, between
from pathwarp.model.schema.graph import AnyLink, AnyTopology

# The last part of an address and of an Ethernet address: of a cable's near end and of its far end.
NEAR, FAR = (1, "01"), (254, "fe")


@dataclass(frozen=True)
class Interface:
    """One end of a cable: IPv4 `address` in a /24 of the cable's own, `peer` the other end."""

    node: str
    name: str
    link: str
    address: str
    mac: str
    mtu_bytes: int
    peer: "Interface | None" = field(default=None, compare=False, repr=False)

    @property
    def network(self) -> str:
        """The /24 that it is in."""
        return self.address.rpartition(".")[0] + ".0/24"

    @property
    def far(self) -> "Interface":
        """The other end of the cable."""
        assert self.peer, "cables have two ends"
        return self.peer


@dataclass(frozen=True)
class Network:
    """What a topology comes to; `routers` are the nodes that forward, with those in the middle of links.

    `cables` are in the order in which they are laid, `shaped` says where each direction of each link leaves a node.
    """

    hosts: tuple[str, ...]
    routers: tuple[str, ...]
    cables: tuple[tuple[Interface, Interface], ...]
    shaped: dict[tuple[str, str], Interface]
    routes: tuple[Route, ...]

    @cached_property
    def interfaces(self) -> dict[str, list[Interface]]:
        """Node to its interfaces, in the order of the cables."""
        found: dict[str, list[Interface]] = {node: [] for node in (*self.hosts, *self.routers)}
        for end in (end for cable in self.cables for end in cable):
            found[end.node].append(end)
        return found

    def paths(self, sender: str, receiver: str) -> list[Route]:
        """The paths between two hosts, each from the first to the second."""
        return between(self.routes, sender, receiver)

    def legs(self, route: Route) -> list[Interface]:
        """The interfaces by which packets leave nodes along a path, from its first host on."""
        found: list[Interface] = []
        for node, link, following in zip(route.nodes, route.links, route.nodes[1:], strict=False):
            out = next(end for end in self.interfaces[node] if end.link == link)
            found.append(out)
            # Through the node in the middle, if the link has one.
            if out.far.node != following:
                found.append(next(end for end in self.interfaces[out.far.node] if end is not out.far))
        return found

    def first(self, route: Route) -> Interface:
        """The interface of the host that a path begins at."""
        return self.legs(route)[0]

    def last(self, route: Route) -> Interface:
        """The interface of the host that a path ends at."""
        return self.legs(route)[-1].far


def build(topology: AnyTopology) -> Network:
    """The network of a topology. Link i has 10.i.0.0/24, and 10.i.1.0/24 beyond the node in its middle."""
    ends = topology.ends()
    routers = list(topology.routers)
    cables: list[tuple[Interface, Interface]] = []
    shaped: dict[tuple[str, str], Interface] = {}
    links: Mapping[str, AnyLink] = topology.wires()
    for number, (name, link) in enumerate(links.items(), start=1):
        first, second = ends[name]
        middle = _middle(topology, name, link)
        if middle:
            routers.append(middle)
            laid = [
                _cable(number, side, name, link, (end, name), (middle, end)) for side, end in enumerate((first, second))
            ]
            leaves = {"down": laid[1][1], "up": laid[0][1]}
            # What leaves a router is shaped there.
            leaves |= {"down": laid[0][0]} if first in topology.routers else {}
            leaves |= {"up": laid[1][0]} if second in topology.routers else {}
        else:
            near, far = (second, first) if second in topology.hosts else (first, second)
            laid = [_cable(number, 0, name, link, (near, name), (far, name))]
            places = {end.node: end for end in laid[0]}
            leaves = {"down": places[first], "up": places[second]}
        cables += laid
        shaped |= {(name, way): leaves[way] for way in ("down", "up") if getattr(link, way)}
    return Network(topology.hosts, tuple(routers), tuple(cables), shaped, tuple(topology.routes()))


def _middle(topology: AnyTopology, name: str, link: AnyLink) -> str | None:
    """The node in the middle of a link; None where it needs none. No file can name a node with a dot."""
    first, second = topology.ends()[name]
    leaves_host = (first in topology.hosts and link.down) or (second in topology.hosts and link.up)
    return topology.middle(name) or (f"{name}.wire" if leaves_host else None)


def _cable(
    number: int, side: int, name: str, link: AnyLink, near: tuple[str, str], far: tuple[str, str]
) -> tuple[Interface, Interface]:
    """A cable between two nodes, each with what it calls its end."""
    one, other = (
        Interface(node, called, name, f"10.{number}.{side}.{last}", f"02:00:00:{number:02x}:{side:02x}:{mac}", mtu)
        for (node, called), (last, mac), mtu in zip((near, far), (NEAR, FAR), (link.mtu_bytes,) * 2, strict=True)
    )
    # Each knows the other; nothing else changes them.
    object.__setattr__(one, "peer", other)
    object.__setattr__(other, "peer", one)
    return one, other
