# SPDX-License-Identifier: Apache-2.0
"""The ways through a network: which nodes a path passes when it goes along its links."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Ends = Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class Route:
    """A path: its links, and the nodes from one host to the other, one more than links."""

    path: str
    links: tuple[str, ...]
    nodes: tuple[str, ...]

    @property
    def hosts(self) -> tuple[str, str]:
        """Where it begins and where it ends."""
        return self.nodes[0], self.nodes[-1]

    def backwards(self) -> "Route":
        """The same path from the other end."""
        return Route(self.path, self.links[::-1], self.nodes[::-1])


def walk(ends: Ends, links: Sequence[str]) -> tuple[str, ...]:
    """The nodes along the links, as many as hang together: one more than links if all do.

    A single link goes as it is written; several from the end of the first that the second doesn't have.
    """
    first = ends[links[0]]
    nodes = list(first)
    if len(links) > 1 and first[1] not in ends[links[1]] and first[0] in ends[links[1]]:
        nodes.reverse()
    for link in links[1:]:
        near, far = ends[link]
        if nodes[-1] not in (near, far):
            break
        nodes.append(far if nodes[-1] == near else near)
    return tuple(nodes)


def routes_of(ends: Ends, paths: Mapping[str, Sequence[str]], hosts: Sequence[str]) -> list[Route]:
    """All paths in order; those between the first two hosts from the first to the second."""
    found = [Route(name, tuple(links), walk(ends, links)) for name, links in paths.items()]
    return [route.backwards() if route.hosts == (hosts[1], hosts[0]) else route for route in found]


def between(routes: Sequence[Route], sender: str, receiver: str) -> list[Route]:
    """The paths between two hosts, each from the first to the second."""
    found = [route if route.hosts[0] == sender else route.backwards() for route in routes]
    return [route for route in found if route.hosts == (sender, receiver)]
