# SPDX-License-Identifier: Apache-2.0
"""Where two trials part: the first packet that one of them has otherwise, at another time, or alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from pathwarp.compare.packets.sightings import Sightings

# The guests' clock goes on by a tick each time that somebody reads it, so a kernel that reads it once more is late by
# one. Up to this much later is no difference as long as something else differs.
TICK_NS = 256
TOLERANCE_NS = 4 * TICK_NS

# What may differ between two packets at the same place and time, in words.
WORDS = {
    "protocol": "protocol",
    "flow": "subflow",
    "size": "size",
    "payload": "payload",
    "flags": "flags",
    "seq": "sequence number",
    "ack": "ACK number",
    "dsn": "DSN",
    "dlen": "length of the mapping",
    "data_ack": "data ACK",
    "options": "MPTCP options",
    "address_id": "address id",
}


@dataclass(frozen=True)
class Divergence:
    """The first difference, `at_ns` from the start of the flow; the pairs are for the two trials.

    `alone` is the trial (0 or 1) whose packet the other one lacks at that time; the other's row is then the same packet
    at another time, None where it never comes. Without `alone` both have a packet there, with other values in
    `columns`. `before` are the rows ahead of the difference, which both share, `after` all others. The shared ones are
    up to `shift_ns` apart, from `shifted_ns` on.
    """

    at_ns: int
    rows: tuple[int | None, int | None]
    alone: int | None
    columns: tuple[str, ...]
    before: tuple[np.ndarray, np.ndarray]
    after: tuple[np.ndarray, np.ndarray]
    shift_ns: int
    shifted_ns: int | None


@dataclass(frozen=True)
class _Stream:
    """One direction of one capture: its rows in both trials, and how many of the first ones are the same packets."""

    rows: tuple[np.ndarray, np.ndarray]
    same: int

    def parts_at(self, sides: Sequence[Sightings]) -> int | None:
        """When the two trials' first packets behind the same ones are, the earlier of them; None without any."""
        both = zip(sides, self.rows, strict=True)
        return min((int(side.time_ns[rows[self.same]]) for side, rows in both if self.same < len(rows)), default=None)

    def next_rows(self) -> tuple[int | None, int | None]:
        """Each trial's first row behind the same ones."""
        one, two = (int(rows[self.same]) if self.same < len(rows) else None for rows in self.rows)
        return one, two


def find_divergence(one: Sightings, two: Sightings) -> Divergence | None:
    """Compare packet by packet; None when the trials are the same all through.

    Each direction of each capture is compared by itself, as a shift by a tick may change the order among them; the
    first difference is the earliest of theirs. Where nothing else differs, the first shift is the difference.
    """
    sides = one, two
    for tolerance_ns in (TOLERANCE_NS, 0):
        streams = _streams(sides, tolerance_ns)
        times = {at_ns: stream for stream in reversed(streams) if (at_ns := stream.parts_at(sides)) is not None}
        if times:
            return _describe(sides, streams, min(times), times[min(times)], tolerance_ns)
    return None


def _streams(sides: Sequence[Sightings], tolerance_ns: int) -> list[_Stream]:
    """What the sender's captures have comes first, of each what the host sends."""
    paths = range(int(max(side.path.max(initial=0) for side in sides)) + 1)
    return [_stream(sides, key, tolerance_ns) for key in product((0, 1), paths, (1, 0))]


def _stream(sides: Sequence[Sightings], key: tuple[int, int, int], tolerance_ns: int) -> _Stream:
    host, path, sent = key
    one, two = (np.flatnonzero((side.host == host) & (side.path == path) & (side.sent == sent)) for side in sides)
    shared = min(len(one), len(two))
    ours, theirs = one[:shared], two[:shared]
    unequal = np.abs(sides[0].time_ns[ours] - sides[1].time_ns[theirs]) > tolerance_ns
    for name in WORDS:
        unequal |= getattr(sides[0], name)[ours] != getattr(sides[1], name)[theirs]
    return _Stream((one, two), int(np.argmax(unequal)) if unequal.any() else shared)


def _describe(
    sides: Sequence[Sightings], streams: Sequence[_Stream], at_ns: int, stream: _Stream, tolerance_ns: int
) -> Divergence:
    rows, alone = _fate(sides, stream, tolerance_ns)
    columns: tuple[str, ...] = ()
    if alone is None:
        packets = [side.row(row) for side, row in zip(sides, rows, strict=True) if row is not None]
        columns = tuple(name for name in WORDS if packets[0][name] != packets[1][name])
    before: list[np.ndarray] = []
    after: list[np.ndarray] = []
    for number, side in enumerate(sides):
        shared = np.zeros(len(side), bool)
        for other in streams:
            shared[other.rows[number][: other.same]] = True
        shared &= side.time_ns <= at_ns + tolerance_ns
        before.append(np.flatnonzero(shared))
        after.append(np.flatnonzero(~shared))
    shift_ns, shifted_ns = 0, None
    for other in streams:
        ours, theirs = (side.time_ns[rows[: other.same]] for side, rows in zip(sides, other.rows, strict=True))
        shifts = np.abs(ours - theirs) * (ours <= at_ns)
        if shifts.any():
            shift_ns = max(shift_ns, int(shifts.max()))
            first = int(ours[np.argmax(shifts > 0)])
            shifted_ns = first if shifted_ns is None else min(first, shifted_ns)
    pairs = (before[0], before[1]), (after[0], after[1])
    return Divergence(at_ns, rows, alone, columns, *pairs, shift_ns, shifted_ns)


def _fate(
    sides: Sequence[Sightings], stream: _Stream, tolerance_ns: int
) -> tuple[tuple[int | None, int | None], int | None]:
    """The two trials' rows of a stream's first difference, and which trial has its packet alone, if one does."""
    one, two = stream.next_rows()
    if one is None or two is None:
        return (one, two), 1 if one is None else 0
    rows = one, two
    times = [int(side.time_ns[row]) for side, row in zip(sides, rows, strict=True)]
    for alone in (0, 1):
        # At one instant the other one's packet may come next, behind one that this one has alone.
        follows = _find(sides, stream, 1 - alone, rows[1 - alone])
        if follows is not None and abs(int(sides[alone].time_ns[follows]) - times[1 - alone]) <= tolerance_ns:
            return _with(rows, 1 - alone, _find(sides, stream, alone, rows[alone])), alone
    if abs(times[0] - times[1]) <= tolerance_ns:
        return rows, None
    alone = times.index(min(times))
    return _with(rows, 1 - alone, _find(sides, stream, alone, rows[alone])), alone


def _find(sides: Sequence[Sightings], stream: _Stream, owner: int, row: int) -> int | None:
    """The other trial's first row of the stream, from the difference on, with the content of the owner's row."""
    other, wanted = sides[1 - owner], sides[owner].row(row)
    rest = stream.rows[1 - owner][stream.same :]
    same = np.ones(len(rest), bool)
    for name in WORDS:
        same &= getattr(other, name)[rest] == wanted[name]
    return int(rest[np.argmax(same)]) if same.any() else None


def _with(rows: tuple[int | None, int | None], place: int, row: int | None) -> tuple[int | None, int | None]:
    return (row, rows[1]) if place == 0 else (rows[0], row)
