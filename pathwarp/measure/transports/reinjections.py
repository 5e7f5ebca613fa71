# SPDX-License-Identifier: Apache-2.0
"""Which bytes of which packets are new, retransmitted or reinjected: byte-exact, from the stream offsets alone."""

from dataclasses import dataclass

import numpy as np

from pathwarp.measure.inputs import Failure
from pathwarp.measure.transports.packets import Packets

NEVER = np.iinfo(np.int64).max
SUBFLOW_BITS = 44  # each subflow's sequence numbers get 16 TiB of their own


@dataclass(frozen=True)
class Pieces:
    """Intervals cut at each other's ends, so that two pieces have all bytes in common or none.

    `of` is a piece's interval, `atom` says which bytes, `size` how many; rows are in the order of the intervals.
    """

    of: np.ndarray
    atom: np.ndarray
    size: np.ndarray
    atoms: int

    def sum(self, chosen: np.ndarray, intervals: int) -> np.ndarray:
        """Return the bytes of the chosen pieces of each interval."""
        return np.bincount(self.of[chosen], self.size[chosen], intervals).astype(np.int64)

    def first(self, chosen: np.ndarray) -> np.ndarray:
        """Return for each atom the first interval that has it among the chosen pieces, NEVER when none has."""
        found = np.full(self.atoms, NEVER)
        backwards = np.flatnonzero(chosen)[::-1]
        found[self.atom[backwards]] = self.of[backwards]  # of several values for one place the last one stays
        return found


@dataclass(frozen=True)
class Resent:
    """Each packet's bytes by what they are; `new`, `retransmitted`, `reinjected` and `repeated` add up to its length.

    `new`: sent for the first time. `retransmitted`: the subflow sent these sequence numbers before (a loss probe that
    has no new data, too). `reinjected`: only other subflows sent this data before. `repeated`: the subflow sent this
    data before, but under other sequence numbers (Linux reinjects onto the same subflow when that is the usable one).
    `spurious` are the reinjected bytes that an earlier packet of another subflow delivered, sooner or later. `age_ns`
    is the time since a packet's first byte was sent for the first time.
    """

    new: np.ndarray
    retransmitted: np.ndarray
    reinjected: np.ndarray
    repeated: np.ndarray
    spurious: np.ndarray
    age_ns: np.ndarray


def cut(start: np.ndarray, end: np.ndarray) -> Pieces:
    """Cut intervals of one byte or more into pieces."""
    edges = np.unique(np.concatenate((start, end)))
    low, high = np.searchsorted(edges, start), np.searchsorted(edges, end)
    count = high - low
    of = np.repeat(np.arange(len(start)), count)
    atom = np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(low, count)
    return Pieces(of, atom, np.diff(edges)[atom], max(len(edges) - 1, 0))


def sent_before(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return how many bytes of each interval the intervals ahead of it have."""
    pieces = cut(start, end)
    first = pieces.first(np.ones(len(pieces.of), bool))
    return pieces.sum(first[pieces.atom] < pieces.of, len(start))


def classify(packets: Packets) -> Resent:
    """Tell new, retransmitted, reinjected and repeated bytes apart (RFC 8684, section 3.3.6)."""
    pieces, total = cut(packets.offset, packets.end), len(packets)
    subflow, delivered = packets.subflow[pieces.of], packets.delivered[pieces.of]
    first = pieces.first(np.ones(len(pieces.of), bool))[pieces.atom]
    again = first < pieces.of
    on_own = np.zeros(len(pieces.of), bool)
    delivered_elsewhere = np.zeros(len(pieces.of), bool)
    for number in np.unique(packets.subflow):
        own = subflow == number
        on_own[own] = pieces.first(own)[pieces.atom[own]] < pieces.of[own]
        delivered_elsewhere |= ~own & (pieces.first(own & delivered)[pieces.atom] < pieces.of)
    reinjected = again & ~on_own
    own_space = packets.seq + (packets.subflow << SUBFLOW_BITS)
    retransmitted = sent_before(own_space, own_space + packets.length)
    lead = np.searchsorted(pieces.of, np.arange(total))
    return Resent(
        new=pieces.sum(~again, total),
        retransmitted=retransmitted,
        reinjected=pieces.sum(reinjected, total),
        repeated=pieces.sum(on_own, total) - retransmitted,
        spurious=pieces.sum(reinjected & delivered_elsewhere, total),
        age_ns=packets.time_ns - packets.time_ns[first[lead]],
    )


def repaired_ns(packets: Packets, wanted: np.ndarray) -> int | None:
    """Return when the receiver had all bytes of the wanted packets (bool), by whatever packet; None when never."""
    if not wanted.any():
        return None
    start, end = packets.offset[wanted].min(), packets.end[wanted].max()
    near = np.flatnonzero((packets.end > start) & (packets.offset < end))
    pieces = cut(packets.offset[near], packets.end[near])
    had_ns = np.full(pieces.atoms, NEVER)
    arrived = packets.delivered[near][pieces.of]
    np.minimum.at(had_ns, pieces.atom[arrived], packets.arrival_ns[near][pieces.of][arrived])
    last = had_ns[pieces.atom[wanted[near][pieces.of]]].max()
    return None if last == NEVER else int(last)


def first_after(
    packets: Packets, resent: Resent, failure: Failure, failed_path: int, until_ns: int = NEVER
) -> int | None:
    """Return the first packet from the failure up to `until_ns` with reinjected bytes on a path that did not fail."""
    chosen = (resent.reinjected > 0) & (packets.time_ns >= failure.at_ns) & (packets.path != failed_path)
    chosen &= packets.time_ns < until_ns
    return int(np.argmax(chosen)) if chosen.any() else None


def rate(packets: Packets, resent: Resent, periods: list[tuple[int, int]]) -> float | None:
    """Return the share of the data packets sent in the periods that have reinjected bytes; None without packets.

    rejection21, section IV: the periods go from MP_JOIN to REMOVE_ADDR.
    """
    inside = np.zeros(len(packets), bool)
    for start_ns, end_ns in periods:
        inside |= (packets.time_ns >= start_ns) & (packets.time_ns < end_ns)
    return float((resent.reinjected[inside] > 0).mean()) if inside.any() else None
