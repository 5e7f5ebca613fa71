# SPDX-License-Identifier: Apache-2.0
"""Model of a network that is a graph, `topologies/NAME.yaml` with `links`: hosts, routers, links, and paths along them.

What spans several keys (nodes that exist, paths that hang together) is checked in `pathwarp.model.graphrules`.
"""

from typing import Annotated

from pydantic import Field

from pathwarp.base.units import parse_size_bytes
from pathwarp.model.routes import Route, routes_of
from pathwarp.model.schema.common import Device, Line, Name, Part, between
from pathwarp.model.schema.linktrace import LinkTrace
from pathwarp.model.schema.topology import Path, Shape, Topology, followed

MOST_LINKS, MOST_PATHS = 250, 250


class Link(Part):
    """A line between two nodes; down is from the first to the second. A direction without a shape takes no time.

    `trace` is for the directions that have none of their own.
    """

    between: tuple[Device, Device]
    mtu_bytes: Annotated[int, between(parse_size_bytes, "576 B", "9000 B"), Field(alias="mtu")]
    down: Shape | None = None
    up: Shape | None = None
    trace: LinkTrace | None = None

    def traces(self) -> dict[str, LinkTrace]:
        """Direction to the trace that it follows, of those that do."""
        return followed(self.down, self.up, self.trace)


class Graph(Part):
    """`hosts` send and receive, `routers` forward; the data of a trial is the first host's, for the second.

    A path is a list of links, one behind the other; its ends are hosts.
    """

    name: Name
    title: Line
    hosts: Annotated[tuple[Device, ...], Field(min_length=2)]
    routers: tuple[Device, ...] = ()
    links: Annotated[dict[Device, Link], Field(min_length=1, max_length=MOST_LINKS)]
    paths: Annotated[
        dict[Device, Annotated[tuple[Device, ...], Field(min_length=1)]], Field(min_length=1, max_length=MOST_PATHS)
    ]

    def wires(self) -> dict[str, Link]:
        """What is shaped, by name."""
        return self.links

    def ends(self) -> dict[str, tuple[str, str]]:
        """Link to the nodes that it joins."""
        return {name: link.between for name, link in self.links.items()}

    def middle(self, link: str) -> None:
        """Only the short form names the node in the middle of a link."""

    def routes(self) -> list[Route]:
        """All paths in order; those between the first two hosts from the first to the second."""
        return routes_of(self.ends(), self.paths, self.hosts)


AnyLink = Path | Link
AnyTopology = Topology | Graph
