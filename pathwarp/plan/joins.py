# SPDX-License-Identifier: Apache-2.0
"""Who has the kernel open a subflow on each path, and how."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pathwarp.base.complaints import Complaint, Complaints, gather
from pathwarp.model.routes import Route
from pathwarp.model.schema.graph import AnyTopology
from pathwarp.model.schema.scenario import Scenario
from pathwarp.plan.flows import ends_of, routes_of
from pathwarp.plan.network import Interface, Network, build
from pathwarp.plan.taps import taps

# What the kernel's path manager calls it: an address is announced to the other side, or subflows are opened from it.
ANNOUNCED, OPENED = "signal", "subflow"


def check_reach(topology: AnyTopology, scenario: Scenario, transport: str) -> None:
    """Complaints for paths that get no subflow, and for those without a place where a scenario's losses can happen."""
    network, complaints = build(topology), list[Complaint]()
    ends = ends_of(topology, scenario)
    with gather(complaints):
        all_joins(network, scenario, ends, transport)
    if scenario.losses is not None:
        with gather(complaints):
            taps(network, ends)
    if complaints:
        raise Complaints(replace(one, where=f"topologies/{topology.name}.yaml: {one.where}") for one in complaints)


def all_joins(network: Network, scenario: Scenario, ends: tuple[str, str], transport: str) -> list[dict[str, str]]:
    """How all paths of all flows over MPTCP but their first ones get their subflows, each told once."""
    preferred = scenario.preferred_path
    routes = network.paths(*ends)
    found = joins(network, [*(one for one in routes if one.path == preferred), *routes]) if transport == "mptcp" else []
    carried: dict[str, Sequence[Route]] = (
        {scenario.primary.name: routes} if scenario.primary and transport == "mptcp" else {}
    )
    for flow in scenario.load:
        if (flow.transport or transport) == "mptcp":
            carried[flow.name] = routes_of(network, flow, "mptcp", preferred)
            own = joins(network, carried[flow.name])
            if any(join["how"] == OPENED for join in own):
                what = f"has one interface for several paths, and the flow {flow.name} is load over MPTCP"
                raise Complaints.one(
                    "hosts", f"{flow.receiver} {what}", "", "let it have transport: tcp, or be primary"
                )
            found += [join for join in own if join not in found]
    _check_announced(network, found, carried)
    return found


def _check_announced(network: Network, found: Sequence[dict[str, str]], carried: Mapping[str, Sequence[Route]]) -> None:
    """Complaints where a host announces an address on no path of a connection there: the kernel tells it to all."""
    complaints = []
    for name, routes, end in ((*flow, end) for flow in carried.items() for end in (network.first, network.last)):
        own = {end(route).address for route in routes}
        host = end(routes[0]).node
        for join in found:
            if join["how"] == ANNOUNCED and join["host"] == host and join["address"] not in own:
                what = (
                    f"{host} announces its address on {join['path']} to the flow {name} as well, which has no such path"
                )
                complaints.append(Complaint("paths", what, "", f"give {name} that path, or a receiver of its own"))
    if complaints:
        raise Complaints(complaints)


def joins(network: Network, routes: Sequence[Route]) -> list[dict[str, str]]:
    """How each path but the first gets its subflow: the receiver announces its address, or where the paths before have
    that one already, the sender opens a subflow from its own.

    Complaints for a path that neither leads to.
    """
    first = routes[0]
    taken, used = {network.last(first).address}, {network.first(first).address}
    found: list[dict[str, str]] = []
    complaints: list[Complaint] = []
    for route in routes[1:]:
        near, far = network.first(route), network.last(route)
        if route is first:
            continue
        if far.address not in taken:
            found.append(_join(route, far, ANNOUNCED))
        elif near.address not in used and far.address == network.last(first).address:
            found.append(_join(route, near, OPENED))
        else:
            what = (
                f"no subflow can be opened on it: its addresses are those of paths before, and {first.path} comes first"
            )
            complaints.append(Complaint(f"paths.{route.path}", what, "", "give its receiver a link of its own"))
        taken.add(far.address)
        used.add(near.address)
    if complaints:
        raise Complaints(complaints)
    return found


def _join(route: Route, end: Interface, how: str) -> dict[str, str]:
    return {"path": route.path, "host": end.node, "address": end.address, "interface": end.name, "how": how}
