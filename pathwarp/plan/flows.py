# SPDX-License-Identifier: Apache-2.0
"""A scenario's load as the guest starts it: addresses and ports that no two flows share, and what each one sends."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from pathwarp.base.complaints import Complaint, Complaints
from pathwarp.base.yamlfile import Place
from pathwarp.model.routes import Route
from pathwarp.model.schema.flow import Flow
from pathwarp.model.schema.graph import AnyTopology
from pathwarp.model.schema.scenario import Scenario
from pathwarp.model.schema.workload import (
    ConstantWorkload,
    ExponentialWorkload,
    GreedyWorkload,
    OnOffWorkload,
    Workload,
    packets_s,
)
from pathwarp.plan.network import Network, build

# The first flow's; the others have those behind them. They are none of the primary flow's, and none that kernels draw.
_PORT, _SIGNALLING_PORT = 10_001, 12_001

# Of IPv4 and UDP.
_UDP_HEADERS_BYTES = 20 + 8

# A greedy flow hands over packets at this rate, which only a transport that holds it back makes its own.
_GREEDY_PACKETS_S = 100_000


def ends_of(topology: AnyTopology, scenario: Scenario) -> tuple[str, str]:
    """Sender and receiver of the data that the metrics are about."""
    primary = scenario.primary
    return (primary.sender, primary.receiver) if primary else (topology.hosts[0], topology.hosts[1])


def hosts_of(topology: AnyTopology, scenario: Scenario) -> list[str]:
    """All hosts that send or receive, sender and receiver of the data first."""
    found = [*ends_of(topology, scenario)]
    return list(dict.fromkeys([*found, *(host for flow in scenario.load for host in (flow.sender, flow.receiver))]))


def load_orders(
    network: Network, scenario: Scenario, workloads: Mapping[str, Workload], transport: str
) -> Iterator[dict[str, object]]:
    """The orders of each load flow; `transport` is that of flows that name none."""
    for number, flow in enumerate(scenario.load):
        routes = routes_of(network, flow, flow.transport or transport, scenario.preferred_path)
        workload = workloads[flow.traffic or ""]
        own = {flow.sender: network.first, flow.receiver: network.last}
        yield {
            "name": flow.name,
            "application": flow.application,
            "transport": flow.transport or transport,
            "sender": flow.sender,
            "receiver": flow.receiver,
            "paths": [route.path for route in routes],
            "preferred_path": routes[0].path,
            "addresses": {host: {route.path: end(route).address for route in routes} for host, end in own.items()},
            "interfaces": {host: {route.path: end(route).name for route in routes} for host, end in own.items()},
            "links": passed(routes),
            "port": _PORT + number,
            "signalling_port": _SIGNALLING_PORT + number,
            "start_ns": flow.start_ns,
            "stop_ns": scenario.duration_ns if flow.stop_ns is None else flow.stop_ns,
            "traffic": workload.name,
            "packet_bytes": workload.packet_bytes,
            "sends": _sends(workload),
        }


def check_datagrams(
    topology: AnyTopology, scenario: Scenario, workloads: Mapping[str, Workload], where: Callable[[Place], str]
) -> None:
    """Complaints for load over UDP whose datagrams would be cut into fragments; `where` finds a place of the file."""
    over_udp = [(index, flow) for index, flow in enumerate(scenario.flows or ()) if flow.transport == "udp"]
    if not over_udp:
        return
    network, complaints = build(topology), list[Complaint]()
    for index, flow in over_udp:
        (route,) = routes_of(network, flow, "udp", scenario.preferred_path)
        most = min(topology.wires()[link].mtu_bytes for link in route.links) - _UDP_HEADERS_BYTES
        size = workloads[flow.traffic or ""].packet_bytes
        if size > most:
            what = f"sends packets of {size} B over UDP, which {route.path} would cut into fragments"
            complaints.append(Complaint(where(("flows", index)), what, f"a workload with packets of at most {most} B"))
    if complaints:
        raise Complaints(complaints)


def passed(routes: Sequence[Route]) -> dict[str, list[list[str]]]:
    """Path to its links in order, each with the node that data leaves on it."""
    return {
        route.path: [[link, node] for link, node in zip(route.links, route.nodes, strict=False)] for route in routes
    }


def routes_of(network: Network, flow: Flow, transport: str, preferred: str) -> Sequence[Route]:
    """The paths that a flow takes, the one first that hosts route it to; only MPTCP takes several."""
    routes = network.paths(flow.sender, flow.receiver)
    first = next((route for route in routes if route.path == preferred), routes[0])
    others = [route for route in routes if route is not first]
    return [first, *others] if transport == "mptcp" else [first]


def _sends(workload: Workload) -> dict[str, object]:
    """When packets leave, without units that an application would have to know."""
    match workload:
        case ConstantWorkload() | ExponentialWorkload():
            rate = packets_s(workload.rate, workload.packet_bytes)
            return {"kind": workload.kind, "packets_s": float(rate)}
        case OnOffWorkload():
            rate = packets_s(workload.rate, workload.packet_bytes)
            times = {"on": workload.on, "off": workload.off}
            paretos = {name: {"shape": time.shape, "shortest_ns": time.shortest_ns} for name, time in times.items()}
            return {"kind": workload.kind, "packets_s": float(rate), **paretos}
        case GreedyWorkload():
            return {"kind": "constant", "packets_s": float(_GREEDY_PACKETS_S)}
    raise AssertionError(f"{workload.kind} is no load")
