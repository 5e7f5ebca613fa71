# SPDX-License-Identifier: Apache-2.0
"""The links that carry applications' signalling: no event touches them, no capture shows them, and they take no time.

Two hosts have a link with each other. More have one each to a router in the middle.
"""

from collections.abc import Sequence

INTERFACE = "management"
# No file can name a node with a dot.
HUB = "signalling.hub"


def addresses(hosts: Sequence[str]) -> dict[str, str]:
    """Host to IPv4 address: of two in one /24, of more in a /24 each."""
    star = len(hosts) > 2
    return {host: f"10.0.{i}.1" if star else f"10.0.0.{i}" for i, host in enumerate(hosts, start=1)}


def routers(hosts: Sequence[str]) -> list[str]:
    """What has to be there beside the hosts."""
    return [HUB] if len(hosts) > 2 else []


def cables(hosts: Sequence[str]) -> list[list[dict[str, str]]]:
    """Both ends of each cable."""
    ends = [{"node": host, "interface": INTERFACE} for host in hosts]
    if len(hosts) == 2:
        return [ends]
    return [[end, {"node": HUB, "interface": end["node"]}] for end in ends]


def lines(hosts: Sequence[str]) -> dict[str, list[str]]:
    """Node to its `ip` lines."""
    own = addresses(hosts)
    found = {host: [f"addr add {own[host]}/24 dev {INTERFACE}", f"link set dev {INTERFACE} up"] for host in hosts}
    if len(hosts) > 2:
        found[HUB] = []
        for host in hosts:
            gateway = own[host].removesuffix(".1") + ".254"
            found[host].append(f"route add 10.0.0.0/16 via {gateway} dev {INTERFACE}")
            found[HUB] += [f"addr add {gateway}/24 dev {host}", f"link set dev {host} up"]
    return found
