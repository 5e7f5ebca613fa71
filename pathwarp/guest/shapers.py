# SPDX-License-Identifier: Apache-2.0
"""Changing the shape of links while the flow runs, without starting a process for each change."""

import subprocess
from types import TracebackType

import shaping
from namespaces import inside
from network import Network


class Shapers:
    """One `tc` for each router where a shape changes; it stays and reads lines until the scope ends.

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

    def shape(self, link: str, shapes: dict, fresh: bool) -> None:
        """Give a link's directions these shapes; RuntimeError when the kernel doesn't take them.

        `fresh` is as in shaping.
        """
        places = [{**place, "shape": shapes[place["direction"]]} for place in self.network.places(link)]
        for node in dict.fromkeys(place["node"] for place in places):
            self._shape(node, [place for place in places if place["node"] == node], fresh)

    def _shape(self, node: str, places: list[dict], fresh: bool) -> None:
        if node not in self.running:
            self.running[node] = self._start(node)
        process, first = self.running[node], places[0]
        lines = [line for place in places for line in self.network.shape_lines(place, fresh)]
        process.stdin.write("".join(f"{line}\n" for line in [*lines, f"qdisc show dev {first['interface']}"]))
        process.stdin.flush()
        # What is asked for last is answered last; a `tc` that meets an error says so and ends.
        for _ in range(shaping.qdiscs(first["shape"]) + self._has_tap(first)):
            answer = process.stdout.readline()
            if not answer.startswith("qdisc"):
                raise RuntimeError(f"{node}: tc: {answer}{process.stdout.read()}{lines}")
        self.network.give_draws(places, fresh)

    def _has_tap(self, place: dict) -> bool:
        """Whether single packets are looked at there, which is one more queueing discipline."""
        here = {"node": place["node"], "interface": place["interface"]}
        return any(here in ways.values() for ways in self.network.plan.get("taps", {}).values())

    def _start(self, node: str) -> subprocess.Popen:
        pipe = subprocess.PIPE
        with inside(self.network.routers[node].pid):
            return subprocess.Popen(["tc", "-batch", "-"], stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True)
