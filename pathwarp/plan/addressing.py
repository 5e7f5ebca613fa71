# SPDX-License-Identifier: Apache-2.0
"""The `ip` lines that give nodes their addresses, neighbours and routes.

Neighbours are entered by hand: ARP through a delayed link would take a round trip that no real link has.
"""

from collections.abc import Iterator, Mapping, Sequence

from pathwarp.model.routes import Route
from pathwarp.plan.network import Interface, Network


def host_lines(network: Network, end: Interface, preferred: str) -> list[str]:
    """What puts a host on a cable: address, a table for what it sends from there, routes to what lies beyond.

    Where several interfaces lead to the same network, the one of the path `preferred` does, or else the first one.
    """
    gateway, number = end.far.address, network.interfaces[end.node].index(end) + 1
    return [
        f"addr add {end.address}/24 dev {end.name}",
        f"neigh replace {gateway} lladdr {end.far.mac} dev {end.name}",
        f"route add default via {gateway} dev {end.name} table {number}",
        f"rule add from {end.address} lookup {number}",
        *(f"route add {beyond} via {gateway} dev {end.name}" for beyond in _beyond(network, end, preferred)),
        f"route add default via {gateway} dev {end.name} metric {number}",
    ]


def all_lines(network: Network, signalling: Mapping[str, Sequence[str]], preferred: str) -> dict[str, list[str]]:
    """Node to all of its lines; `signalling` are those for its links of that kind, which come first."""
    lines = {node: list(own) for node, own in signalling.items() if node not in network.hosts}
    for router in network.routers:
        lines[router] = [line for end in network.interfaces[router] for line in _router_lines(end)]
    for router, routes in _forwarding(network).items():
        lines[router] += _route_lines(routes)
    for host in network.hosts:
        lines[host] = [*signalling.get(host, ()), "link set dev lo up"]
        for end in network.interfaces[host]:
            lines[host] += [f"link set dev {end.name} mtu {end.mtu_bytes}", f"link set dev {end.name} up"]
            lines[host] += host_lines(network, end, preferred)
    return lines


def _beyond(network: Network, end: Interface, preferred: str) -> list[str]:
    """The networks of the hosts that paths lead to from this interface."""
    first: dict[str, Interface] = {}
    for route in sorted(network.routes, key=lambda route: route.path != preferred):
        for way in (route, route.backwards()):
            if way.nodes[0] == end.node:
                first.setdefault(network.last(way).network, network.first(way))
    return [beyond for beyond, by in first.items() if by is end and beyond != end.network]


def _router_lines(end: Interface) -> Iterator[str]:
    yield f"link set dev {end.name} mtu {end.mtu_bytes}"
    yield f"addr add {end.address}/24 dev {end.name}"
    yield f"link set dev {end.name} up"
    yield f"neigh replace {end.far.address} lladdr {end.far.mac} dev {end.name}"


# Target to source to the interface by which packets between the two leave a router.
_Forwarding = dict[str, dict[str, Interface]]


def _forwarding(network: Network) -> dict[str, _Forwarding]:
    """How each router forwards along the paths, but for what it is connected to."""
    found: dict[str, _Forwarding] = {}
    for route in network.routes:
        for way in (route, route.backwards()):
            _note(network, way, found)
    return found


def _note(network: Network, way: Route, found: dict[str, _Forwarding]) -> None:
    source, target = network.first(way).address, network.last(way).address
    for out in network.legs(way)[1:]:
        if out.far.address != target:
            found.setdefault(out.node, {}).setdefault(target, {})[source] = out


def _route_lines(forwarding: _Forwarding) -> Iterator[str]:
    """A route for each target; where paths to one target part, a table for each interface, chosen by the source."""
    tables: list[Interface] = []
    for target, by_source in forwarding.items():
        ways = list(dict.fromkeys((out.name, out.far.address) for out in by_source.values()))
        if len(ways) == 1:
            ((name, gateway),) = ways
            yield f"route add {target} via {gateway} dev {name}"
            continue
        for source, out in by_source.items():
            if out not in tables:
                tables.append(out)
            number = tables.index(out) + 1
            yield f"rule add from {source} to {target} lookup {number}"
            yield f"route replace {target} via {out.far.address} dev {out.name} table {number}"
