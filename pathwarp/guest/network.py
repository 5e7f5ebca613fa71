# SPDX-License-Identifier: Apache-2.0
"""The plan's nodes and links as Mininet nodes, with addresses, routes and MPTCP endpoints."""

import subprocess
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import count

from mininet.log import setLogLevel
from mininet.node import Node

import kernel
import mptcp
import offload
import shaping
from namespaces import inside
from nodes import Namespace, Veth

_MANAGEMENT = "management"
_MIDDLE_SYSCTLS = {"net.ipv4.ip_forward": "1"}


class Network:
    """Hosts with one interface per path, and one middle node per path that shapes each direction.

    Interface names on a host are path names; on a middle node they are host names.
    """

    def __init__(self, plan: dict) -> None:
        setLogLevel("error")
        self.plan = plan
        # For each announcement another port: what is left of an ended subflow keeps its own in use for minutes.
        self.join_ports = count(plan["join_port"], -1)
        self.hosts = {name: Namespace(name) for name in plan["hosts"]}
        self.middles = {path["name"]: Namespace(path["middle"]) for path in plan["paths_setup"]}
        self._connect()
        for path in plan["paths_setup"]:
            self._set_up_middle(path)
        for host in self.hosts:
            self._set_up_host(host)
        self.qdiscs = {self.middles[path["name"]].name: self.shape(path) for path in plan["paths_setup"]}

    def node(self, name: str) -> Node:
        """The host or middle node of this name."""
        nodes = {node.name: node for node in (*self.hosts.values(), *self.middles.values())}
        return nodes[name]

    def check_alive(self) -> None:
        """RuntimeError when a node's holder has ended: its namespace, with its links, may have gone with it."""
        for node in (*self.hosts.values(), *self.middles.values()):
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

    def _connect(self) -> None:
        """Join both hosts to each path's middle node, and to each other for D-ITG's signalling.

        No failure reaches the link for signalling, and no capture shows it. No interface of a path may merge packets:
        netem would take many for one.
        """
        ends = []
        for path in self.plan["paths_setup"]:
            middle = self.middles[path["name"]]
            for host in self.hosts.values():
                macs = path["macs"][host.name]
                Veth(host, middle, intfName1=path["name"], intfName2=host.name, addr1=macs[0], addr2=macs[1], up=None)
                ends += [(host, path["name"]), (middle, host.name)]
        Veth(*self.hosts.values(), intfName1=_MANAGEMENT, intfName2=_MANAGEMENT, up=None)
        # From no node: the kernel refuses a name that the calling namespace has, wherever the interface is to go.
        self.batch(None, "ip", Veth.pending)
        for node, interface in ends:
            with inside(node.pid):
                offload.switch_off(interface)

    def _set_up_middle(self, path: dict) -> None:
        middle = self.middles[path["name"]]
        self.batch(
            middle,
            "ip",
            [
                line
                for host in self.hosts
                for line in (
                    f"link set dev {host} mtu {path['mtu_bytes']}",
                    f"addr add {path['gateways'][host]}/24 dev {host}",
                    f"link set dev {host} up",
                    f"neigh replace {path['addresses'][host]} lladdr {path['macs'][host][0]} dev {host}",
                )
            ],
        )
        with inside(middle.pid):
            for name, value in _MIDDLE_SYSCTLS.items():
                kernel.write_sysctl(name, value)

    def _set_up_host(self, host: str) -> None:
        node = self.hosts[host]
        with inside(node.pid):
            for name, value in self.plan["sysctls"].items():
                kernel.write_sysctl(name, str(value))
        lines = [f"addr add {self.plan['management'][host]}/24 dev {_MANAGEMENT}", f"link set dev {_MANAGEMENT} up"]
        lines.append("link set dev lo up")
        for path in self.plan["paths_setup"]:
            lines += [f"link set dev {path['name']} mtu {path['mtu_bytes']}", f"link set dev {path['name']} up"]
            lines += path["lines"][host]
        self.batch(node, "ip", [*lines, *mptcp.set_up_lines(self, host)])

    def shape(self, path: dict) -> list[str]:
        """Shape both directions on the path's middle node; tc's own words for what there is now."""
        lines = [*self.shape_lines(path, fresh=True), "qdisc show"]
        return self.batch(self.middles[path["name"]], "tc", lines).splitlines()

    def shape_lines(self, path: dict, fresh: bool) -> list[str]:
        """The `tc` lines that shape both directions, as shaping has them."""
        towards = self.towards().items()
        return [line for way, host in towards for line in shaping.lines(host, path[way], path["mtu_bytes"], fresh)]

    def towards(self) -> dict[str, str]:
        """Direction to the middle nodes' interface: down leaves them towards the receiver."""
        return {"down": self.plan["receiver"], "up": self.plan["sender"]}
