# SPDX-License-Identifier: Apache-2.0
"""Where single packets of each path can be lost: where they leave a node ahead of a link that no other path has."""

from collections.abc import Sequence

from pathwarp.base.complaints import Complaints
from pathwarp.model.routes import Route
from pathwarp.plan.network import Interface, Network


def taps(network: Network, hosts: Sequence[str]) -> dict[str, dict[str, dict[str, str]]]:
    """Path to node and interface for `data`, towards the receiver, and for `ack`; Complaints where there is none."""
    routes = network.paths(hosts[0], hosts[1])
    backwards = [route.backwards() for route in routes]
    return {
        route.path: {"data": _tap(network, route, routes), "ack": _tap(network, route.backwards(), backwards)}
        for route in routes
    }


def _tap(network: Network, route: Route, routes: Sequence[Route]) -> dict[str, str]:
    """The first place behind the host, which no other path has."""
    others: list[Interface] = [leg for other in routes if other.path != route.path for leg in network.legs(other)]
    for leg in network.legs(route)[1:]:
        if leg not in others:
            return {"node": leg.node, "interface": leg.name}
    what = f"has no link of its own behind {route.nodes[0]}, so its single packets can't be told from other paths'"
    raise Complaints.one(f"paths.{route.path}", what, "", "leave the scenario's losses out, or give the path a link")
