# SPDX-License-Identifier: Apache-2.0
"""Who has the kernel open a subflow on each path, and how."""

from collections.abc import Sequence
from dataclasses import replace

from pathwarp.base.complaints import Complaint, Complaints, gather
from pathwarp.model.routes import Route
from pathwarp.model.schema.graph import AnyTopology
from pathwarp.model.schema.scenario import Scenario
from pathwarp.plan.network import Network, build
from pathwarp.plan.taps import taps

# What the kernel's path manager calls it: an address is announced to the other side, or subflows are opened from it.
ANNOUNCED, OPENED = "signal", "subflow"


def check_reach(topology: AnyTopology, scenario: Scenario) -> None:
    """Complaints for paths that get no subflow, and for those without a place where a scenario's losses can happen."""
    network, complaints = build(topology), list[Complaint]()
    with gather(complaints):
        joins(network, network.paths(*topology.hosts[:2]), scenario.preferred_path)
    if scenario.losses is not None:
        with gather(complaints):
            taps(network, topology.hosts[:2])
    if complaints:
        raise Complaints(replace(one, where=f"topologies/{topology.name}.yaml: {one.where}") for one in complaints)


def joins(network: Network, routes: Sequence[Route], preferred: str) -> list[dict[str, str]]:
    """How each path but the preferred one gets its subflow: the receiver announces its address, or where the paths
    before have that one already, the sender opens a subflow from its own.

    Complaints for a path that neither leads to.
    """
    first = next(route for route in routes if route.path == preferred)
    taken = {network.last(first).address}
    used = {network.first(first).address}
    found: list[dict[str, str]] = []
    complaints: list[Complaint] = []
    for route in routes:
        own, far = network.first(route).address, network.last(route).address
        if route is first:
            continue
        if far not in taken:
            found.append({"path": route.path, "host": route.hosts[1], "how": ANNOUNCED})
        elif own not in used and far == network.last(first).address:
            found.append({"path": route.path, "host": route.hosts[0], "how": OPENED})
        else:
            what = (
                f"no subflow can be opened on it: its addresses are those of paths before, {preferred} being preferred"
            )
            complaints.append(Complaint(f"paths.{route.path}", what, "", "give its receiver a link of its own"))
        taken.add(far)
        used.add(own)
    if complaints:
        raise Complaints(complaints)
    return found
