# SPDX-License-Identifier: Apache-2.0
"""The plan's nodes and links as Mininet nodes, with addresses, routes and MPTCP endpoints."""

import subprocess
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import count
from typing import TYPE_CHECKING

from mininet.log import setLogLevel
from mininet.node import Node

import kernel
import mptcp
import offload
import shaping
from namespaces import inside
from nodes import Namespace, Veth

if TYPE_CHECKING:
    import draws

_ROUTER_SYSCTLS = {"net.ipv4.ip_forward": "1"}


class Network:
    """The plan's hosts and routers with their cables; what is shaped leaves routers only.

    Interface names are the plan's.
    """

    def __init__(self, plan: dict) -> None:
        setLogLevel("error")
        self.plan = plan
        self.setup = plan["network"]
        # For each announcement another port: what is left of an ended subflow keeps its own in use for minutes.
        self.join_ports = count(plan["join_port"], -1)
        self.hosts = {name: Namespace(name) for name in self.setup["hosts"]}
        self.routers = {name: Namespace(name) for name in self.setup["routers"]}
        self.draws = self._draws()
        self._connect()
        for router in self.routers:
            self._set_up_router(router)
        for host in self.hosts:
            self._set_up_host(host)
        self.qdiscs = {
            node: self._shape(node) for node in dict.fromkeys(place["node"] for place in self.setup["shapes"])
        }

    def node(self, name: str) -> Node:
        """The host or router of this name."""
        return self.hosts[name] if name in self.hosts else self.routers[name]

    def check_alive(self) -> None:
        """RuntimeError when a node's holder has ended: its namespace, with its links, may have gone with it."""
        for node in (*self.hosts.values(), *self.routers.values()):
            if node.shell.poll() is not None:
                raise RuntimeError(f"the process that holds {node.name} ended, status {node.shell.returncode}")

    def run(self, node: Node | None, command: Sequence[str], text: str = "") -> str:
        """Run a command in a node's network namespace, or in the guest's own, and return what it prints.

        RuntimeError when it fails.
        """
        with inside(node.pid) if node else nullcontext():
            done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(
                f"{node or 'guest'}: {' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}{text}"
            )
        return done.stdout

    def batch(self, node: Node | None, tool: str, lines: Sequence[str]) -> str:
        """Give `ip` or `tc` many lines at once, in one process; what it prints."""
        return self.run(node, [tool, "-batch", "-"], "\n".join(lines) + "\n")

    def _draws(self) -> "draws.Draws | None":
        """What links with jitter draw; no trial without jitter has the module, whose import reads clocks."""
        if not any("jitter" in place["shape"] for place in self.setup["shapes"]):
            return None
        import draws

        return draws.Draws(self.plan["seed"])

    def _connect(self) -> None:
        """Lay the cables, those for D-ITG's signalling last: no failure reaches them, and no capture shows them.

        No other interface may merge packets: netem would take many for one.
        """
        ends = []
        for near, far in self.setup["cables"]:
            nodes = self.node(near["node"]), self.node(far["node"])
            names = {"intfName1": near["interface"], "intfName2": far["interface"]}
            Veth(*nodes, **names, addr1=near["mac"], addr2=far["mac"], up=None)
            ends += [(nodes[0], near["interface"]), (nodes[1], far["interface"])]
        for near, far in self.setup["signalling"]:
            names = {"intfName1": near["interface"], "intfName2": far["interface"]}
            Veth(self.node(near["node"]), self.node(far["node"]), **names, up=None)
        # From no node: the kernel refuses a name that the calling namespace has, wherever the interface is to go.
        self.batch(None, "ip", Veth.pending)
        for node, interface in ends:
            with inside(node.pid):
                offload.switch_off(interface)

    def _set_up_router(self, router: str) -> None:
        self.batch(self.routers[router], "ip", self.setup["lines"][router])
        with inside(self.routers[router].pid):
            for name, value in _ROUTER_SYSCTLS.items():
                kernel.write_sysctl(name, value)
            for place in self.setup["shapes"]:
                if self.draws and place["node"] == router and "jitter" in place["shape"]:
                    self.draws.leave_to_flow(place["interface"])

    def _set_up_host(self, host: str) -> None:
        node = self.hosts[host]
        with inside(node.pid):
            for name, value in self.plan["sysctls"].items():
                kernel.write_sysctl(name, str(value))
        self.batch(node, "ip", [*self.setup["lines"][host], *mptcp.set_up_lines(self, host)])

    def _shape(self, node: str) -> list[str]:
        """Shape all that leaves a router and has a shape; tc's own words for what there is now, and what draws."""
        places = [place for place in self.setup["shapes"] if place["node"] == node]
        lines = [line for place in places for line in self.shape_lines(place)]
        said = self.batch(self.routers[node], "tc", [*lines, "qdisc show"])
        drawn = self.give_draws(places, fresh=True)
        return [*(self.batch(self.routers[node], "tc", ["qdisc show"]) if drawn else said).splitlines(), *drawn]

    def give_draws(self, places: list[dict], fresh: bool) -> list[str]:
        """Have links with jitter draw, after their lines; in words what fresh ones draw."""
        if not self.draws:
            return []
        return [
            line
            for place in places
            for line in self.draws.give(
                place["node"], self.routers[place["node"]].pid, place["interface"], place["shape"], fresh
            )
        ]

    def shape_lines(self, place: dict, fresh: bool = True) -> list[str]:
        """The `tc` lines that shape one direction of a link, as shaping has them."""
        return shaping.lines(place["interface"], place["shape"], place["mtu_bytes"], fresh)

    def places(self, link: str) -> list[dict]:
        """Where the directions of a link are shaped."""
        return [place for place in self.setup["shapes"] if place["link"] == link]
