# SPDX-License-Identifier: Apache-2.0
"""When a subflow's reinjection timer fires, worked out from the sender's capture and the rules alone."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pathwarp.measure import pcap, tcp

# G, in µs: the least that K v counts as.
GRANULARITY_US = 10


class Segment(NamedTuple):
    """A segment of a subflow as the sender's interface saw it; `end` is the sequence number behind it."""

    time_ns: int
    is_sent: bool
    seq: int
    end: int
    ack: int
    is_syn: bool


@dataclass
class Estimator:
    """SRTT and RTTVAR as the kernel has them, in integers (tcp_rtt_estimator): 8 s and 4 v, in µs."""

    srtt8_us: int = 0
    mdev4_us: int = 0

    def take(self, sample_us: int) -> None:
        if not self.srtt8_us:
            self.srtt8_us, self.mdev4_us = sample_us << 3, sample_us << 1
            return
        error = sample_us - (self.srtt8_us >> 3)
        self.srtt8_us += error
        if error < 0:
            error = -error - (self.mdev4_us >> 2)
            self.mdev4_us += error >> 3 if error > 0 else error
        else:
            self.mdev4_us += error - (self.mdev4_us >> 2)

    def interval_ns(self, k: int) -> int:
        """s + max(G, K v)."""
        return (self.srtt8_us + max(2 * k * self.mdev4_us, 8 * GRANULARITY_US)) * 125


@dataclass
class Subflow:
    """A sender's subflow without losses, followed segment by segment."""

    k: int
    estimator: Estimator = field(default_factory=Estimator)
    outstanding: deque[Segment] = field(default_factory=deque)
    deadline_ns: int | None = None

    def follow(self, segments: list[Segment]) -> Iterator[int]:
        """The instants at which the timer fires."""
        for segment in segments:
            if self.deadline_ns is not None and segment.time_ns > self.deadline_ns:
                yield self.deadline_ns
                self.deadline_ns = None
            if segment.is_sent:
                self._send(segment)
            else:
                self._acknowledge(segment)
        if self.deadline_ns is not None:
            yield self.deadline_ns

    def _send(self, segment: Segment) -> None:
        if segment.end == segment.seq or (self.outstanding and segment.end <= self.outstanding[-1].end):
            return
        self.outstanding.append(segment)
        if self.deadline_ns is None and self.estimator.srtt8_us and not segment.is_syn:
            self.deadline_ns = segment.time_ns + self.estimator.interval_ns(self.k)

    def _acknowledge(self, segment: Segment) -> None:
        first = self.outstanding[0] if self.outstanding else None
        while self.outstanding and self.outstanding[0].end <= segment.ack:
            self.outstanding.popleft()
        if first and first.end <= segment.ack:
            self.estimator.take(segment.time_ns // 1000 - first.time_ns // 1000)
        self.deadline_ns = None
        if self.outstanding:
            self.deadline_ns = self.outstanding[0].time_ns + self.estimator.interval_ns(self.k)


def segments(capture: Path, port: int) -> list[Segment]:
    """The segments of the connection to `port`, sequence numbers from 0 on both sides."""
    table = tcp.decode(pcap.read(capture))
    rows = np.flatnonzero((table.dport == port) | (table.sport == port))
    first = {}
    found = []
    for row in rows.tolist():
        is_sent = int(table.dport[row]) == port
        is_syn = bool(table.flags[row] & tcp.SYN)
        if is_syn:
            first.setdefault(is_sent, int(table.seq[row]))
        seq = (int(table.seq[row]) - first[is_sent]) & 0xFFFFFFFF
        ack = (int(table.ack[row]) - first.get(not is_sent, 0)) & 0xFFFFFFFF
        length = int(table.payload_len[row]) + is_syn + bool(table.flags[row] & tcp.FIN)
        found.append(Segment(int(table.time_ns[row]), is_sent, seq, seq + length, ack, is_syn))
    return found
