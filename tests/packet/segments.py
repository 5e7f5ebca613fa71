# SPDX-License-Identifier: Apache-2.0
"""A connection's segments in a capture, with the blocks that a receiver selectively acknowledges (RFC 2018)."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pathwarp.wire import pcap, tcp

_END, _NOP, _SACK = 0, 1, 5


class Segment(NamedTuple):
    """A segment of a subflow as the sender's interface saw it; `end` is the sequence number behind it."""

    time_ns: int
    is_sent: bool
    seq: int
    end: int
    ack: int
    is_syn: bool
    sacked: tuple[tuple[int, int], ...] = ()

    def is_in(self, blocks: tuple[tuple[int, int], ...]) -> bool:
        return any(begin <= self.seq and self.end <= end for begin, end in blocks)


def segments(capture: Path, port: int) -> list[Segment]:
    """The segments of the connection to `port`, sequence numbers from 0 on both sides."""
    packets = pcap.read(capture)
    table = tcp.decode(packets)
    rows = np.flatnonzero((table.dport == port) | (table.sport == port))
    first = {}
    found = []
    for row in rows.tolist():
        is_sent = int(table.dport[row]) == port
        is_syn = bool(table.flags[row] & tcp.SYN)
        if is_syn:
            first.setdefault(is_sent, int(table.seq[row]))
        seq = (int(table.seq[row]) - first[is_sent]) & 0xFFFFFFFF
        base = first.get(not is_sent, 0)
        ack = (int(table.ack[row]) - base) & 0xFFFFFFFF
        length = int(table.payload_len[row]) + is_syn + bool(table.flags[row] & tcp.FIN)
        options = packets.data[table.options_at[row] : table.options_end[row]].tobytes()
        blocks = tuple(((begin - base) & 0xFFFFFFFF, (end - base) & 0xFFFFFFFF) for begin, end in _sacked(options))
        found.append(Segment(int(table.time_ns[row]), is_sent, seq, seq + length, ack, is_syn, blocks))
    return found


def _sacked(options: bytes) -> Iterator[tuple[int, int]]:
    """The blocks of TCP options: the sequence numbers where each begins and ends."""
    at = 0
    while at < len(options) and options[at] != _END:
        if options[at] == _NOP:
            at += 1
            continue
        if options[at] == _SACK:
            for block in range(at + 2, at + options[at + 1], 8):
                yield int.from_bytes(options[block : block + 4]), int.from_bytes(options[block + 4 : block + 8])
        at += options[at + 1]
