# SPDX-License-Identifier: Apache-2.0
"""Mininet's nodes and links with few programs to start: each costs a guest more than a minute of sparse traffic."""

import subprocess
from typing import ClassVar

from mininet.link import Link
from mininet.node import Node


class Namespace(Node):
    """A node whose namespaces a sleeping process holds open, where Mininet has a shell that waits for commands."""

    def startShell(self, mnopts: str | None = None) -> None:  # noqa: N802, Mininet's name
        """Start the holder; RuntimeError when mnexec can't make the namespaces."""
        command = ["mnexec", mnopts or "-cdnp", "sleep", "infinity"]
        self.shell = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        # mnexec prints its process id when the namespaces are there.
        if not self.shell.stdout.readline():
            raise RuntimeError(f"{self.name}: mnexec made no network namespace")
        self.pid = self.shell.pid


class Veth(Link):
    """A link that is made together with all others, by one `ip -batch` of `pending`."""

    pending: ClassVar[list[str]] = []

    @classmethod
    def makeIntfPair(  # noqa: N802, Mininet's name
        cls,
        intfname1: str,
        intfname2: str,
        addr1: str | None = None,
        addr2: str | None = None,
        node1: Node | None = None,
        node2: Node | None = None,
        deleteIntfs: bool = False,  # noqa: N803, Mininet's name
    ) -> None:
        """Note the `ip` line that makes a pair of interfaces, one in each node."""
        near, far = (f"address {address} " if address else "" for address in (addr1, addr2))
        pair = f"name {intfname1} netns {node1.pid} {near}type veth peer name {intfname2} netns {node2.pid} {far}"
        cls.pending.append(f"link add {pair.strip()}")
