# SPDX-License-Identifier: Apache-2.0
"""When a subflow's reinjection timer fires, worked out from the sender's capture and the rules alone."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from segments import Segment

# G, in µs: the least that K v counts as.
GRANULARITY_US = 10


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
    """A sender's subflow without retransmissions, followed segment by segment.

    `is_restarted_by_duplicates` is the rule; False is another rule, to see what a test can tell.
    """

    k: int
    is_restarted_by_duplicates: bool = True
    estimator: Estimator = field(default_factory=Estimator)
    outstanding: deque[Segment] = field(default_factory=deque)
    sacked: set[Segment] = field(default_factory=set)
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
        answered = [s for s in self.outstanding if s not in self.sacked and s.end <= segment.ack]
        is_duplicate = not answered
        while self.outstanding and self.outstanding[0].end <= segment.ack:
            self.outstanding.popleft()
        answered += [s for s in self.outstanding if s not in self.sacked and s.is_in(segment.sacked)]
        self.sacked.update(s for s in self.outstanding if s.is_in(segment.sacked))
        if answered:
            self.estimator.take(segment.time_ns // 1000 - answered[0].time_ns // 1000)
        if is_duplicate and not self.is_restarted_by_duplicates:
            return
        self.deadline_ns = None
        if self.outstanding:
            due_ns = self.outstanding[0].time_ns + self.estimator.interval_ns(self.k)
            self.deadline_ns = max(due_ns, segment.time_ns)
