# SPDX-License-Identifier: Apache-2.0
"""The network as the guest sets it up: addresses, and the `ip` lines that put a host on a path."""

from pathwarp.model.schema.topology import Topology


def macs(topology: Topology, path: str) -> dict[str, list[str]]:
    """Host to the Ethernet addresses on a path, by position: that of its interface, and that of the middle's.

    Neighbours are entered by hand: ARP through a delayed link would take a round trip that no real link has.
    """
    number = list(topology.paths).index(path) + 1
    return {
        host: [f"02:00:00:{number:02x}:{side:02x}:{end}" for end in ("01", "fe")]
        for side, host in enumerate(topology.hosts)
    }


def address_lines(topology: Topology, path: str) -> dict[str, list[str]]:
    """Host to the `ip` lines that put it on a path: address, per-source table, a route to the far side's network."""
    addresses, gateways = topology.addresses(), topology.gateways()
    number = list(topology.paths).index(path) + 1
    lines = {}
    for host, far in zip(topology.hosts, reversed(topology.hosts), strict=True):
        address, gateway = addresses[host][path], gateways[host][path]
        network = addresses[far][path].rsplit(".", 1)[0] + ".0/24"
        lines[host] = [
            f"addr add {address}/24 dev {path}",
            f"neigh replace {gateway} lladdr {macs(topology, path)[host][1]} dev {path}",
            f"route add default via {gateway} dev {path} table {number}",
            f"rule add from {address} lookup {number}",
            f"route add {network} via {gateway} dev {path}",
            f"route add default via {gateway} dev {path} metric {number}",
        ]
    return lines
