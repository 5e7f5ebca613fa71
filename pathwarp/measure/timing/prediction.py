# SPDX-License-Identifier: Apache-2.0
"""When a burst that lost its end is complete, from the formulas of the variants' timers.

Subflow A loses, B is the other; d is a path's delay with the time that the packet takes on the link, s and v are
SRTT and RTTVAR of A. All timers but REJ fire on the kernel's timer wheel.

    PTO = min(RTO, 2 s + 200 ms, or + 2 ms with more than one packet in flight), from the last packet or its
          acknowledgment, whichever is later
    RTO = s + max(200 ms, 4 v), from the first packet or the last acknowledgment, and anew from a probe
    REJ = s + K v, from the transmission of the first packet in flight
    connection's timer = 200 ms for a burst of one packet, else the PTO that was set when the last one was written

What a variant sends when one of these fires is in its `timing`. A burst of one packet so takes, where d(A) and d(B) are
the delays of the two paths and what is sent again on A is lost too in the second column:

    probe alone:           PTO + d(A)                        PTO + RTO + min(d(A), d(B))
    probe on both:         PTO + min(d(A), d(B))             PTO + d(B)
    RTO on both:           RTO + min(d(A), d(B))             RTO + d(B)
    REJ on the other:      min(REJ + d(B), PTO + d(A))       REJ + d(B)

Of several lost packets the last one to arrive counts. What A's receiver gets ahead of a packet that A still lacks waits
for that one, as TCP hands on nothing out of order, unless B brings it as well. What A acknowledges selectively shows
the holes ahead of it (RACK: all of them have been under way for longer than a round trip), and each acknowledgment lets
out one of them. The connection's timer sends the first hole alone, and nothing while the other subflow has something in
flight.
"""

import heapq
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

from pathwarp.measure.timing.wheel import JIFFY_NS, fires_at
from pathwarp.model.schema.exactloss import MOST_COPIES
from pathwarp.model.schema.timing import Answer, Timing

_US = 1_000
_CONNECTION_JIFFIES = 200
# After more expiries without a word from it, a subflow is taken for stale.
_STALE, _STALE_EXPIRIES = "net.mptcp.stale_loss_cnt", 4
# Other readings of REJ's timer, by their numbers; 0 is the one above.
_OTHER_READINGS = ("net.mptcp.rej_rttvar", "net.mptcp.rej_overdue")
# K v counts as this much at least.
_LEAST_K_V_US = 10
_FOREVER = 1 << 62
# Nobody waits that long for a burst.
_TOO_LATE_NS = 120 * 10**9


def predict_ms(course: Mapping[str, Any], timing: Timing, sysctls: Mapping[str, str], boot_ns: int) -> float | None:
    """The burst's completion from the sending of its first packet on, of a course as `course` returns it.

    `sysctls` are the trial's; `boot_ns` is where the guest's clock started. None for a variant of which nothing is sent
    again, and for readings of REJ that the formulas don't know.
    """
    if timing.rej and any(int(sysctls.get(name, 0)) for name in _OTHER_READINGS):
        return None
    return _Recovery(course, timing, sysctls, boot_ns).completion_ms()


class _Recovery:
    """The sender and the two paths from the burst's end on; times in ns of the epoch."""

    def __init__(self, course: Mapping[str, Any], timing: Timing, sysctls: Mapping[str, str], boot_ns: int) -> None:
        self.course, self.timing, self.sysctls, self.boot_ns = course, timing, sysctls, boot_ns
        self.zero_ns: int = course["first_sent_ns"]
        self.states: list[Mapping[str, Any]] = course["states"]
        self.lost: list[Mapping[str, Any]] = course["lost"]
        self.path: str = course["path"]
        # With several other paths it is the one with the shortest way.
        others = [name for name in course["links"] if name != self.path]
        self.other = min(others, key=lambda name: course["links"][name]["there"]["delay_ns"]) if others else None
        self.copies = [dict.fromkeys(("", self.path), 1) for _ in self.lost]
        self.free: dict[str, int] = {}
        # When each lost packet arrives, on A and on B.
        self.arrives: dict[bool, dict[int, int]] = {True: {}, False: {}}
        # What A's receiver has, and the retransmission timer's number: setting it anew outdates what it was set to.
        self.held: set[int] = set()
        self.retransmitted: set[int] = set()
        self.rto_number = self.backoff = 0
        # Of the connection: its timer and how often that fired, the lost packets that are acknowledged in the stream,
        # and until when the other subflow has something in flight.
        self.connection_number = self.connection_jiffies = self.expiries = 0
        self.acked = self.other_busy_ns = 0
        self.after_rto = False
        self.events: list[tuple[int, int, Callable[[int], None]]] = []
        self.numbers = count()

    def completion_ms(self) -> float | None:
        self._set_timers()
        # An arrival is known as soon as the packet is sent; what is sent until then may still arrive earlier.
        while self.events and self.events[0][0] < min(self._complete_ns(), self.zero_ns + _TOO_LATE_NS):
            at_ns, _, act = heapq.heappop(self.events)
            act(at_ns)
        complete_ns = self._complete_ns()
        return None if complete_ns == _FOREVER else (complete_ns - self.zero_ns) / 1e6

    def _complete_ns(self) -> int:
        return max(self._there_ns())

    def _there_ns(self) -> list[int]:
        """When the application can have each lost packet: a subflow hands on nothing behind a hole of its own."""
        on_a, on_b = (
            [self.arrives[is_a].get(place, _FOREVER) for place in range(len(self.lost))] for is_a in (True, False)
        )
        return [min(b, max(on_a[: place + 1])) for place, b in enumerate(on_b)]

    def _set_timers(self) -> None:
        last = self.states[-1]
        acks = [state for state in self.states if state["event"] == "acknowledged"]
        since = acks[-1] if acks else self.states[0]
        if self.timing.pto:
            answer = self.timing.pto
            self._at(self._wheel(last["at_us"], last["pto_jiffies"]), lambda at: self._probe(at, answer))
        elif self.timing.rto:
            self._set_rto(self._ns(since["at_us"]))
        if self.timing.connection:
            self.connection_jiffies = self._connection_jiffies(bool(acks))
            self._set_connection(self._ns(since["at_us"]))
        if self.timing.rej:
            self._set_rejection(self.timing.rej, int(self.sysctls[self.timing.rej.k]))

    def _connection_jiffies(self, acknowledged: bool) -> int:
        """What the timer is set to with the acknowledgment: what the subflow's was when the last packet was written."""
        sent = [state for state in self.states if state["event"] == "sent"]
        if not acknowledged or len(sent) < 2:
            return _CONNECTION_JIFFIES
        waited = self._ns(sent[-1]["at_us"]) // JIFFY_NS - self._ns(sent[-2]["at_us"]) // JIFFY_NS
        return int(sent[-2]["pto_jiffies"]) - waited

    def _set_rejection(self, answer: Answer, k: int) -> None:
        ends = [self._ns(state["at_us"]) for state in self.states[1:]] + [_FOREVER]
        for state, until_ns in zip(self.states, ends, strict=True):
            wait_us = state["srtt_us"] + max(_LEAST_K_V_US, k * state["rttvar_us"])
            at_ns = max(self._ns(state["oldest_us"] + wait_us), self._ns(state["at_us"]))
            if state["in_flight"] and at_ns < until_ns:
                break
        else:
            return
        # What is in flight ahead of the lost packets is sent as well, and takes its time on the link.
        ahead = state["in_flight"] - len(self.lost)
        self._at(at_ns, lambda at: self._send(at, answer, range(len(self.lost)), ahead))

    def _set_rto(self, since_ns: int) -> None:
        self.rto_number += 1
        number, jiffies = self.rto_number, self.states[-1]["rto_jiffies"] << self.backoff
        self._at(fires_at(since_ns, jiffies, self.boot_ns), lambda at: self._rto(at, number))

    def _set_connection(self, since_ns: int) -> None:
        self.connection_number += 1
        number = self.connection_number
        self._at(fires_at(since_ns, self.connection_jiffies, self.boot_ns), lambda at: self._connection(at, number))

    def _connection(self, at_ns: int, number: int) -> None:
        """Send where a subflow has nothing in flight, or wherever after too many expiries without a word from A."""
        if number != self.connection_number or self.acked == len(self.lost):
            return
        self.expiries += 1
        holes = range(self.acked, len(self.lost))
        if self.timing.stale and self.expiries > int(self.sysctls.get(_STALE, _STALE_EXPIRIES)):
            self._send(at_ns, self.timing.stale, holes)
        elif self.timing.connection and at_ns >= self.other_busy_ns:
            self._send(at_ns, self.timing.connection, holes)
        self._set_connection(at_ns)

    def _probe(self, at_ns: int, answer: Answer) -> None:
        self._set_rto(at_ns)
        self._send(at_ns, answer, range(len(self.lost)))

    def _rto(self, at_ns: int, number: int) -> None:
        holes = [place for place in range(len(self.lost)) if place not in self.held]
        if number == self.rto_number and holes and self.timing.rto:
            self.after_rto = True
            self.backoff += 1
            self._set_rto(at_ns)
            self._send(at_ns, self.timing.rto, holes)

    def _answered(self, at_ns: int, place: int) -> None:
        """An acknowledgment of a packet on A came: the holes that it shows are sent again there."""
        self.held.add(place)
        self.rto_number += 1
        self.backoff = 0
        holes = [hole for hole in range(len(self.lost)) if hole not in self.held and hole not in self.retransmitted]
        # An acknowledgment lets out one packet (proportional rate reduction), behind an RTO two (slow start).
        now = holes[: 2 if self.after_rto else 1]
        self.retransmitted.update(now)
        for hole in now:
            self._on(self.path, at_ns, hole)
        if len(self.held) < len(self.lost):
            self._set_rto(at_ns)

    def _send(self, at_ns: int, answer: Answer, holes: Sequence[int], ahead: int = 0) -> None:
        """Send what an expiry sends; `ahead` are packets that were not lost, and are sent ahead of these."""
        which = {"none": [], "first": [*holes][:1], "last": [*holes][-1:], "all": [*holes]}
        for place in which[answer.same]:
            self._on(self.path, at_ns, place)
        if self.other is None:
            return
        if answer.other == "all" and ahead > 0:
            self._occupy(self.other, at_ns, ahead * self.lost[-1]["bytes"])
        for place in which[answer.other]:
            self._on(self.other, at_ns, place)

    def _on(self, path: str, at_ns: int, place: int) -> None:
        """Put a lost packet on a path once more."""
        packet = self.lost[place]
        out_ns = self._occupy(path, at_ns, packet["bytes"])
        if packet["path"] in ("", path):
            self.copies[place][packet["path"]] += 1
            if packet["copies"] >> min(self.copies[place][packet["path"]], MOST_COPIES) - 1 & 1:
                return
        links = self.course["links"][path]
        arrives_ns = out_ns + links["there"]["delay_ns"]
        arrives = self.arrives[path == self.path]
        arrives[place] = min(arrives_ns, arrives.get(place, _FOREVER))
        back = links["back"]
        known_ns = arrives_ns + self.course["ack_bytes"] * 8 * 10**9 // back["rate_bit_s"] + back["delay_ns"]
        self._at(known_ns, lambda at: self._told(at, arrives_ns))
        if path == self.path:
            self._at(known_ns, lambda at: self._answered(at, place))
        else:
            self.other_busy_ns = max(self.other_busy_ns, known_ns)

    def _told(self, at_ns: int, sent_ns: int) -> None:
        """An acknowledgment came that was sent at that instant: what of the stream it covers."""
        there = [there_ns <= sent_ns for there_ns in self._there_ns()]
        acked = [*there, False].index(False)
        if acked > self.acked:
            self.acked = acked
            if self.timing.connection:
                self._set_connection(at_ns)

    def _occupy(self, path: str, at_ns: int, size: int) -> int:
        """When that many bytes have left for a path; one packet waits for the other."""
        rate = self.course["links"][path]["there"]["rate_bit_s"]
        self.free[path] = max(self.free.get(path, 0), at_ns) + size * 8 * 10**9 // rate
        return self.free[path]

    def _ns(self, at_us: float) -> int:
        return self.zero_ns + round(at_us * _US)

    def _wheel(self, at_us: float, jiffies: int) -> int:
        return fires_at(self._ns(at_us), jiffies, self.boot_ns)

    def _at(self, at_ns: int, act: Callable[[int], None]) -> None:
        heapq.heappush(self.events, (at_ns, next(self.numbers), act))
