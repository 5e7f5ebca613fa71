# SPDX-License-Identifier: Apache-2.0
"""The application: ITGSend sends to ITGRecv, over TCP or MPTCP, what the plan says."""

import contextlib
import os
import re
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import descriptors
from namespaces import inside
from network import Network

_ETH_P_IP = 0x0800
_SYN_ACK = 0x12
_START_TIMEOUT_S = 30
_WAITS = "waits.txt"
_SIZES = "sizes.txt"
# How many packets are logged at once. What ITGRecv has not written when the flow ends is lost; ITGSend writes it.
_RECEIVER_LOG, _SENDER_LOG = "1", "500"


@contextlib.contextmanager
def punctual() -> Iterator[None]:
    """Have the processes that are started here be real-time ones.

    Others' select(2) may oversleep by a thousandth of its timeout (select_estimate_accuracy).
    """
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def listens(pid: int, port: int) -> bool:
    """Whether somebody in the network namespace of a process listens on a TCP port."""
    net = Path(f"/proc/{pid}/net")
    listening = re.compile(rf":{port:04X} 0+:0000 0A")
    return any(listening.search((net / table).read_text()) for table in ("tcp", "tcp6"))


class Flow:
    """One D-ITG flow from the plan's sender to its receiver; both processes log every packet."""

    def __init__(self, network: Network, folder: Path) -> None:
        self.network = network
        self.plan = network.plan
        self.folder = folder
        self._logs: list[IO[str]] = []
        self._listeners: list[socket.socket] = []
        self.receiver = self._start(
            self.plan["receiver"], ["ITGRecv", "-l", str(folder / "ditg-receiver.bin"), "-q", _RECEIVER_LOG]
        )
        self.sender: subprocess.Popen | None = None

    def _start(self, host: str, command: list[str]) -> subprocess.Popen:
        wrapper = ["mptcpize", "run"] if self.plan["transport"] == "mptcp" else []
        log = open(self.folder / f"{host}-output.txt", "w")  # noqa: SIM115, closed in stop
        self._logs.append(log)
        with inside(self.network.hosts[host].pid):
            return subprocess.Popen([*wrapper, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def _await_listener(self) -> None:
        """Wait until the receiver's signalling port is open."""
        pid = self.network.hosts[self.plan["receiver"]].pid
        deadline = time.monotonic() + _START_TIMEOUT_S
        while not listens(pid, self.plan["signalling_port"]):
            if time.monotonic() > deadline or self.receiver.poll() is not None:
                raise RuntimeError("ITGRecv does not listen")
            time.sleep(0.001)

    def start(self) -> int:
        """Start the sender; the instant at which its connection stands, in ns since the epoch.

        That instant is the flow's zero: traces and events count from it.
        """
        plan = self.plan
        self._await_listener()
        addresses = plan["addresses"]
        path = plan["preferred_path"]
        with inside(self.network.hosts[plan["sender"]].pid):
            sniffer = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ETH_P_IP))
            sniffer.bind((plan["interfaces"][plan["sender"]][path], _ETH_P_IP))
        command = ["ITGSend", "-a", addresses[plan["receiver"]][path], "-rp", str(plan["port"])]
        command += ["-Sda", plan["management"][plan["receiver"]]]
        command += ["-T", "TCP", "-D", "-t", str(round(plan["duration_s"] * 1000)), *self._departures()]
        command += ["-l", str(self.folder / "ditg-sender.bin"), "-q", _SENDER_LOG]
        with punctual():
            self.sender = self._start(plan["sender"], command)
        with sniffer:
            sniffer.settimeout(_START_TIMEOUT_S)
            while not self._is_syn_ack(sniffer.recv(128)):
                pass
        zero_ns = time.time_ns()
        if plan["transport"] == "mptcp":
            self._keep_listening()
        return zero_ns

    def _keep_listening(self) -> None:
        """Hold the receiver's listening socket open, as a server does that goes on listening.

        ITGRecv closes it after accept, and mainline answers an MP_JOIN only where a socket listens.
        """
        for name in os.listdir(f"/proc/{self.receiver.pid}/fd"):
            with contextlib.suppress(OSError):
                found = descriptors.duplicate_socket(self.receiver.pid, int(name))
                if found.getsockname()[1] == self.plan["port"]:
                    self._listeners.append(found)
                else:
                    found.close()
        if not self._listeners:
            raise RuntimeError("ITGRecv stopped listening before the connection stood")

    def _departures(self) -> list[str]:
        """ITGSend's options for what to send when: a constant rate, or the files of waits and sizes."""
        constant = self.plan["constant"]
        if constant:
            rate, size = f"{constant['packets_s']:.9g}", str(self.plan["packet_bytes"])
            return ["-z", str(constant["packets"]), "-C", rate, "-c", size]
        packets = len((self.folder / _SIZES).read_text().splitlines())
        return ["-z", str(packets), "-Ft", str(self.folder / _WAITS), "-Fs", str(self.folder / _SIZES)]

    def _is_syn_ack(self, packet: bytes) -> bool:
        header = (packet[0] & 0xF) * 4
        source, flags = struct.unpack_from("!H11xB", packet, header)
        return packet[9] == socket.IPPROTO_TCP and source == self.plan["port"] and flags & _SYN_ACK == _SYN_ACK

    def finish(self, drain_s: float) -> None:
        """Let the sender end by itself for some time, then stop both processes.

        A sender whose data can't get through (plain TCP on a dead path) never ends by itself. RuntimeError when one of
        the two was killed, or the receiver ended before it was told to: what they logged is not the whole flow.
        """
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.sender.wait(drain_s)
        if self.receiver.poll() is not None:
            raise RuntimeError(f"ITGRecv ended before the flow did, status {self.receiver.returncode}")
        for process in (self.sender, self.receiver):
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            if process.wait() < 0 and process.returncode != -signal.SIGINT:
                raise RuntimeError(f"{process.args!r} was killed by signal {-process.returncode}")
        for log in self._logs:
            log.close()
