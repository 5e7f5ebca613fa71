# SPDX-License-Identifier: Apache-2.0
"""What happens to the paths, and when."""

import time
from collections.abc import Callable

import mptcp
import shaping
from network import Network
from shapers import Shapers


def _blackhole(network: Network, path: dict) -> None:
    """Swallow every packet of the path in silence, those under way included."""
    network.batch(network.middles[path["name"]], "tc", [shaping.blackhole_line(host) for host in network.hosts])


def _interface_down(network: Network, path: dict) -> None:
    """Take the receiver's interface down."""
    receiver = network.hosts[network.plan["receiver"]]
    network.batch(receiver, "ip", [f"link set dev {path['name']} down"])


def _interface_up(network: Network, path: dict) -> None:
    receiver = network.plan["receiver"]
    lines = [line for line in network.address_lines(receiver, path) if line.startswith(("route", "neigh"))]
    network.batch(network.hosts[receiver], "ip", [f"link set dev {path['name']} up", *lines])


def _address_removed(network: Network, path: dict) -> None:
    """Remove the receiver's address on the path, and with it its routes. The kernel's path manager doesn't notice."""
    receiver = network.plan["receiver"]
    address = path["addresses"][receiver]
    lines = [f"rule del from {address}", f"addr del {address}/24 dev {path['name']}"]
    network.batch(network.hosts[receiver], "ip", lines)


def _removal_announced(network: Network, path: dict) -> None:
    """Do what a connection manager does when it has removed an address: tell the kernel's path manager."""
    if network.plan["transport"] == "mptcp":
        mptcp.withdraw(network, path["name"])


def _address_added(network: Network, path: dict) -> None:
    receiver = network.plan["receiver"]
    network.batch(network.hosts[receiver], "ip", network.address_lines(receiver, path))
    if network.plan["transport"] == "mptcp":
        mptcp.announce(network, path["name"])


_FAILURES = ("blackhole", "interface-down", "address-removed")
_ENDS = ("shape", "interface-up", "address-added")
_AHEAD_NS = 1_000_000

_ACTIONS: dict[str, Callable[[Network, dict], None]] = {
    "blackhole": _blackhole,
    "interface-down": _interface_down,
    "interface-up": _interface_up,
    "address-removed": _address_removed,
    "removal-announced": _removal_announced,
    "address-added": _address_added,
}


def sleep_until(instant_ns: int) -> None:
    """Sleep until an instant of the guest's clock, in ns since the epoch."""
    while (left := instant_ns - time.time_ns()) > 0:
        time.sleep(left / 1e9)


def run(network: Network, zero_ns: int, before: Callable[[dict, set[str]], None]) -> list[dict]:
    """Carry out the plan's events at their instants after the flow's zero; what was done, and when exactly.

    `before` is called a millisecond ahead of the scenario's first event and of each failure, with the paths that are
    up. The steps of a trace that a link follows don't count: they begin before the subflows are there.
    """
    paths = {path["name"]: path for path in network.plan["paths_setup"]}
    up = set(paths)
    done: list[dict] = []
    looked = False
    with Shapers(network) as shapers:
        for event in network.plan["events"]:
            if event["action"] in _FAILURES or not (looked or event.get("trace")):
                sleep_until(zero_ns + event["at_ns"] - _AHEAD_NS)
                before(event, up)
                looked = True
            fresh = event["path"] not in up
            if event["action"] in _FAILURES:
                up.discard(event["path"])
            elif event["action"] in _ENDS:
                up.add(event["path"])
            sleep_until(zero_ns + event["at_ns"])
            if event["action"] == "shape":
                shapers.shape({**paths[event["path"]], **event["shape"]}, fresh)
            else:
                _ACTIONS[event["action"]](network, paths[event["path"]])
            # Once it is done: `ip` and `tc` read clocks, and packets arrive meanwhile.
            done.append({"at_ns": time.time_ns(), "path": event["path"], "action": event["action"]})
    return done
