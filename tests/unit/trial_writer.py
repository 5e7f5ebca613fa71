# SPDX-License-Identifier: Apache-2.0
"""Hand-made run folders: what happened is said packet by packet, in milliseconds and bytes."""

import json
from pathlib import Path

import pcap_writer as pcap

from pathwarp.model.events.registry import EVENT_KINDS
from pathwarp.wire.mptcp import token_and_first_dsn

ZERO_NS = 1_795_000_000_000_000_000  # 2026-11-18 11:06:40 UTC
KEYS = 0x8C8983EB448950FA, 0x7E84B0516E9916D4
FIRST_DSN = token_and_first_dsn(KEYS[0])[1]
TOKEN = token_and_first_dsn(KEYS[1])[0]
PATHS = ("wlan", "4g")
DELAY_MS = {"wlan": 6.0, "4g": 40.0}
PORT = 8999


def ns(milliseconds: float) -> int:
    """The instant so long after the start of the flow."""
    return ZERO_NS + round(milliseconds * 1e6)


class TrialWriter:
    """A run folder in the making: `open` a subflow, `send` data, `log` what was read, `finish` to write the files."""

    def __init__(self, folder: Path, transport: str = "mptcp", paths: tuple[str, ...] = PATHS, **plan: object) -> None:
        self.folder, self.transport, self.paths = folder, transport, paths
        self.plan, self.events, self.lines = plan, [], []
        self.counters = {"before": {}, "after": {}}
        self.packets: dict[str, list[tuple[int, bytes]]] = {f"{h}-{p}": [] for h in ("server", "client") for p in paths}
        self.isn: dict[str, int] = {}
        self.next_seq: dict[str, int] = {}
        self.ident = 0

    def ends(self, path: str) -> tuple[pcap.End, pcap.End]:
        """The sender's and the receiver's end of the path's subflow."""
        number = self.paths.index(path) + 1
        return (f"10.{number}.0.1", 40000 + number), (f"10.{number}.1.1", PORT)

    def put(self, path: str, at_ms: float, frame: bytes, back: bool = False, lost: bool = False) -> None:
        """Capture a frame where it is sent and, DELAY_MS later, where it arrives."""
        hosts = ("client", "server") if back else ("server", "client")
        self.packets[f"{hosts[0]}-{path}"].append((ns(at_ms), frame))
        if not lost:
            self.packets[f"{hosts[1]}-{path}"].append((ns(at_ms + DELAY_MS[path]), frame))

    def open(self, path: str, at_ms: float, isn: int = 1000, token: int = TOKEN, keys: tuple[int, ...] = KEYS) -> None:
        """Open the path's subflow: a first one with keys, then ones that join; no options in plain TCP."""
        server, client = self.ends(path)
        steps = (b"", b"", b"")
        if self.transport == "mptcp":
            steps = (pcap.capable(), pcap.capable(*keys[1:]), pcap.capable(*keys))
            if self.isn:
                accept, proof = pcap.option(1, 0, bytes([1]) + bytes(12)), pcap.option(1, 0, bytes(21))
                steps = (pcap.join(1, token), accept, proof)
        self.isn[path], self.next_seq[path] = isn, 1
        delay = DELAY_MS[path]
        self.put(path, at_ms, pcap.segment(server, client, isn, pcap.SYN, options=steps[0]))
        answer = pcap.segment(client, server, 77, pcap.SYN | pcap.ACK, options=steps[1], ack=isn + 1)
        self.put(path, at_ms + delay, answer, back=True)
        self.put(path, at_ms + 2 * delay, pcap.segment(server, client, isn + 1, options=steps[2]))

    def send(
        self,
        path: str,
        at_ms: float,
        offset: int,
        size: int,
        seq: int | None = None,
        lost: bool = False,
        mapping: bytes | None = None,
    ) -> int:
        """Send stream bytes on a subflow, as its next ones or from sequence number `seq` on; return that number.

        The segment maps itself unless `mapping` has other options.
        """
        server, client = self.ends(path)
        seq = self.next_seq[path] if seq is None else seq
        self.next_seq[path] = max(self.next_seq[path], seq + size)
        if mapping is None:
            own = pcap.dss(FIRST_DSN + offset, seq % 2**32, size, ack=1)
            mapping = own if self.transport == "mptcp" else b""
        self.ident += 1
        options = pcap.TIMESTAMPS + mapping
        flags = pcap.ACK | pcap.PSH
        frame = pcap.segment(server, client, self.isn[path] + seq, flags, size, options, self.ident)
        self.put(path, at_ms, frame, lost=lost)
        return seq

    def log(self, size: int, tx_ms: float, rx_ms: float) -> None:
        """Add the next packet to the receiving application's log."""
        times = [(ns(ms) // 1000) % 86_400_000_000 for ms in (tx_ms, rx_ms)]
        tx, rx = (
            f"{t // 3_600_000_000}:{t // 60_000_000 % 60}:{t // 1_000_000 % 60}.{t % 1_000_000:06d}" for t in times
        )
        ends = f"Src>{'10.1.0.1':>46}/40001 Dest>{'10.1.1.1':>46}/{PORT}"
        self.lines.append(f"Flow>0001 Seq>{len(self.lines) + 1:7} {ends} txTime>{tx} rxTime>{rx} Size>{size:5}\n")

    def fail(self, path: str, at_ms: float, kind: str = "blackhole", phase: str = "begin") -> None:
        """Let a phase of an event happen to a path."""
        facts = {"begin": {"path_is": "down", "heard": EVENT_KINDS[kind].heard}, "end": {"path_is": "up"}}
        facts = facts.get(phase, {}) if EVENT_KINDS[kind].is_failure else {}
        self.events.append({"at_ns": ns(at_ms), "path": path, "kind": kind, "phase": phase, **facts})

    def finish(self) -> Path:
        """Write the folder."""
        for name, packets in self.packets.items():
            pcap.write(self.folder / f"captures/{name}.pcap", sorted(packets, key=lambda packet: packet[0]))
        numbers = {path: number for number, path in enumerate(self.paths, 1)}
        plan = {
            "format": 1,
            "transport": self.transport,
            "sender": "server",
            "receiver": "client",
            "paths": list(self.paths),
            "preferred_path": "wlan",
            "addresses": {
                "server": {path: f"10.{number}.0.1" for path, number in numbers.items()},
                "client": {path: f"10.{number}.1.1" for path, number in numbers.items()},
            },
            "mtu_bytes": dict.fromkeys(self.paths, 1500),
            "packet_bytes": 1400,
            "duration_s": 10.0,
            "bursts": [],
            "port": PORT,
            **self.plan,
        }
        files = {
            "plan.json": json.dumps(plan),
            "guest.json": json.dumps({"flow_start_ns": ZERO_NS, "events": self.events}),
            "ditg-receiver.txt": "".join(self.lines),
            **{f"counters-{when}.json": json.dumps(hosts) for when, hosts in self.counters.items()},
        }
        (self.folder / "logs").mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (self.folder / "logs" / name).write_text(text)
        return self.folder
