# SPDX-License-Identifier: Apache-2.0
"""The kernel's MPTCP path manager: limits, announced addresses, and what subflows there are."""

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from network import Network

_MOST_SUBFLOWS = 8
_ANNOUNCED = "signal"


def set_up_lines(network: "Network", host: str) -> list[str]:
    """The `ip` lines by which a host does what the plan has it do for further subflows: announce, or open them.

    It is the sender who opens the connection, and who joins to addresses that the receiver announces. The announced
    address carries a port, so that the kernel itself listens there: ITGRecv closes its listening socket after accept,
    and mainline answers an MP_JOIN only where one listens.
    """
    plan = network.plan
    if plan["transport"] != "mptcp" and not plan["joins"]:
        return []
    lines = [f"mptcp limits set subflows {_MOST_SUBFLOWS} add_addr_accepted {_MOST_SUBFLOWS}"]
    for join in plan["joins"]:
        if join["host"] == host:
            line = f"mptcp endpoint add {join['address']} dev {join['interface']} {join['how']}"
            lines.append(f"{line} port {next(network.join_ports)}" if join["how"] == _ANNOUNCED else line)
    return lines


def announce(network: "Network", path: str) -> None:
    """Announce the receiver's address on a path to its peers (ADD_ADDR)."""
    network.batch(network.hosts[network.plan["receiver"]], "ip", [_announcement(network, path)])


def _announcement(network: "Network", path: str) -> str:
    plan = network.plan
    address, interface = (plan[facts][plan["receiver"]][path] for facts in ("addresses", "interfaces"))
    line = f"mptcp endpoint add {address} dev {interface} signal"
    # The address that the connection began on has the id 0. With a port the kernel would take it for another one, and
    # what joins to it would not end with it. Flow keeps the flow's own port open.
    return line if path == plan["preferred_path"] else f"{line} port {next(network.join_ports)}"


def withdraw(network: "Network", path: str) -> None:
    """Tell the receiver's kernel that its address on a path is gone: it sends REMOVE_ADDR and ends the subflows there.

    An address that was announced has an endpoint. The one that the connection began on has none at first, and the id 0.
    """
    plan = network.plan
    receiver, address = network.hosts[plan["receiver"]], plan["addresses"][plan["receiver"]][path]
    endpoints = json.loads(network.run(receiver, ["ip", "-j", "mptcp", "endpoint", "show"]) or "[]")
    known = next((endpoint["id"] for endpoint in endpoints if endpoint["address"] == address), 0)
    which = [str(known)] if known else ["0", address]
    network.run(receiver, ["ip", "mptcp", "endpoint", "delete", "id", *which])


def connections(network: "Network", known: list[dict]) -> list[dict]:
    """The sender's established subflows of the flow's connection, with the kernel's own view of each.

    `info` is `ss -ti`'s line: RTT and its variation in ms, RTO in ms, congestion window in segments. D-ITG's
    signalling is a connection of its own, with subflows of its own; what tells the two apart is the data sequence
    number that comes next from the receiver, which never sends data: it keeps its first one, the same on all subflows.
    `known` are the subflows of an earlier call, for when the connection's first one is gone.
    """
    plan = network.plan
    text = network.run(network.hosts[plan["sender"]], ["ss", "-tniOH", "state", "established"])
    near, far = (plan["addresses"][plan[end]] for end in ("sender", "receiver"))
    paths = {(near[path], far[path]): path for path in plan["paths"]}
    found = []
    for line in text.splitlines():
        local, remote = line.split()[2:4]
        # One that is bound to an interface is 10.1.0.1%wlan.
        address = tuple(end.rpartition(":")[0].partition("%")[0] for end in (local, remote))
        if address in paths:
            info = dict(re.findall(r"(\w+):([\w./]+)", line.partition(remote)[2]))
            found.append({"path": paths[address], "local": local, "remote": remote, "info": info})
    firsts = [*known, *(subflow for subflow in found if subflow["remote"].endswith(f":{plan['port']}"))]
    first = next((subflow["info"].get("seq") for subflow in firsts), None)
    return [subflow for subflow in found if subflow["info"].get("seq") == first]
