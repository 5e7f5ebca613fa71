# SPDX-License-Identifier: Apache-2.0
"""Changing the shape of links while the flow runs, without starting a process for each change."""

import subprocess
from types import TracebackType

import shaping
from namespaces import inside
from network import Network


class Shapers:
    """One `tc` for each middle node that is shaped; it stays and reads lines until the scope ends.

    Starting `tc` costs milliseconds of wall time, and a link that follows a trace changes every few of them.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.running: dict[str, subprocess.Popen] = {}

    def __enter__(self) -> "Shapers":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for process in self.running.values():
            process.stdin.close()
            process.wait()
            process.stdout.close()

    def shape(self, path: dict, fresh: bool) -> None:
        """Give both directions of a path its shapes; RuntimeError when the kernel doesn't take them.

        `fresh` is as in shaping.
        """
        if path["name"] not in self.running:
            self.running[path["name"]] = self._start(path["name"])
        process = self.running[path["name"]]
        way, interface = next(iter(self.network.towards().items()))
        lines = self.network.shape_lines(path, fresh)
        process.stdin.write("".join(f"{line}\n" for line in [*lines, f"qdisc show dev {interface}"]))
        process.stdin.flush()
        # What is asked for last is answered last; a `tc` that meets an error says so and ends.
        for _ in range(shaping.qdiscs(path[way]) + ("losses" in self.network.plan)):
            answer = process.stdout.readline()
            if not answer.startswith("qdisc"):
                raise RuntimeError(f"{path['middle']}: tc: {answer}{process.stdout.read()}{lines}")

    def _start(self, name: str) -> subprocess.Popen:
        pipe = subprocess.PIPE
        with inside(self.network.middles[name].pid):
            return subprocess.Popen(["tc", "-batch", "-"], stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True)
