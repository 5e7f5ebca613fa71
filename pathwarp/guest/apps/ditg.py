# SPDX-License-Identifier: Apache-2.0
"""D-ITG: a pair of ITGRecv and ITGSend for each flow, which signal to each other on a port of their own."""

import signal
import subprocess
import time
from pathlib import Path
from typing import IO

from flow import listens, punctual
from namespaces import inside
from network import Network

_START_TIMEOUT_S = 30
# How many packets are logged at once: what the receiver has not written when it is told to end is lost.
_RECEIVER_LOG = "1"
_MS = 1_000_000


class Application:
    """One flow of the plan's load; its receiver logs every packet to `load-NAME-receiver.bin`."""

    def __init__(self, network: Network, flow: dict, folder: Path) -> None:
        self.network, self.flow, self.folder = network, flow, folder
        self._logs: list[IO[str]] = []
        self.sender: subprocess.Popen | None = None
        log = str(folder / f"load-{flow['name']}-receiver.bin")
        command = ["ITGRecv", "-Sp", str(flow["signalling_port"]), "-l", log, "-q", _RECEIVER_LOG]
        self.receiver = self._start("receiver", command)

    def await_ready(self) -> None:
        """Wait until the receiver takes its sender's signalling; RuntimeError when it doesn't."""
        deadline = time.monotonic() + _START_TIMEOUT_S
        while not listens(self._pid("receiver"), self.flow["signalling_port"]):
            if time.monotonic() > deadline or self.receiver.poll() is not None:
                raise RuntimeError(f"ITGRecv of the flow {self.flow['name']} does not listen")
            time.sleep(0.001)

    def send(self) -> None:
        """Start the sender, which waits until its flow starts."""
        flow, path = self.flow, self.flow["preferred_path"]
        addresses = flow["addresses"]
        command = ["ITGSend", "-a", addresses[flow["receiver"]][path], "-rp", str(flow["port"])]
        command += ["-Sda", self.network.plan["management"][flow["receiver"]], "-Sdp", str(flow["signalling_port"])]
        command += ["-T", "UDP"] if flow["transport"] == "udp" else ["-T", "TCP", "-D"]
        command += ["-d", str(flow["start_ns"] // _MS), "-t", str((flow["stop_ns"] - flow["start_ns"]) // _MS)]
        command += ["-s", _seed(self.network.plan["seed"], flow["port"]), *_departures(flow)]
        with punctual():
            self.sender = self._start("sender", command)

    def stop(self) -> None:
        """End both processes; RuntimeError when one ended by itself that should not have."""
        if self.receiver.poll() is not None:
            raise RuntimeError(f"ITGRecv of the flow {self.flow['name']} ended early: {self.receiver.returncode}")
        assert self.sender, "it was started"
        for process in (self.sender, self.receiver):
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            if process.wait() < 0 and process.returncode != -signal.SIGINT:
                raise RuntimeError(f"{process.args!r} was killed by signal {-process.returncode}")
        for log in self._logs:
            log.close()

    def _pid(self, end: str) -> int:
        return self.network.hosts[self.flow[end]].pid

    def _start(self, end: str, command: list[str]) -> subprocess.Popen:
        wrapper = ["mptcpize", "run"] if self.flow["transport"] == "mptcp" else []
        log = open(self.folder / f"load-{self.flow['name']}-{end}-output.txt", "w")  # noqa: SIM115, closed in stop
        self._logs.append(log)
        with inside(self._pid(end)):
            return subprocess.Popen([*wrapper, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def _seed(seed: int, port: int) -> str:
    """ITGSend's seed, from 0 to 1: another one for each flow of each trial."""
    return f"{(seed * 7919 + port) % 999_983 / 999_983:.6f}"


def _departures(flow: dict) -> list[str]:
    """ITGSend's options for what to send when."""
    sends = flow["sends"]
    rate = f"{sends['packets_s']:.9g}"
    options = ["-c", str(flow["packet_bytes"])]
    if sends["kind"] == "exponential":
        return [*options, "-E", rate]
    options += ["-C", rate]
    if sends["kind"] == "on-off":
        options.append("-B")
        for part in ("on", "off"):
            options += ["V", f"{sends[part]['shape']:g}", f"{sends[part]['shortest_ns'] / _MS:g}"]
    return options
