# SPDX-License-Identifier: Apache-2.0
"""Make a trace from a packet capture: what the server sent, cut into bursts wherever it paused."""

from collections.abc import Iterable
from ipaddress import AddressValueError, IPv4Address
from pathlib import Path

import numpy as np

from pathwarp.base.complaints import Complaint, Complaints
from pathwarp.model.traces import SMALLEST_PACKET_BYTES, Burst, Trace
from pathwarp.wire.pcap import read
from pathwarp.wire.tcp import SYN, TcpColumns, decode

HALF, WHOLE = 1 << 31, 1 << 32


def import_capture(path: Path, gap_s: float = 0.05, server: str = "") -> Trace:
    """The payload that the server sent in the capture at `path`, as bursts that are at least `gap_s` apart.

    The first burst starts at 0. The server is the address that sent the most payload unless `server` names it; all of
    its TCP connections count together, and each byte once, however often it was sent. A burst below D-ITG's smallest
    packet is raised to that. Raises Complaints for a file that is no capture, or has no such payload.
    """
    try:
        columns = decode(read(path))
    except Complaints as complaints:
        raise Complaints(complaints.complaints) from None
    senders = _senders(columns)
    if not senders:
        raise Complaints.one(str(path), "has no TCP payload over IPv4", hint="capture on the interface that carries it")
    source = next(iter(senders)) if not server else _address(server)
    if source not in senders:
        valid = ", ".join(str(IPv4Address(address)) for address in senders)
        raise Complaints.one("--server", f"{server} sends no payload in {path}", valid)
    row = np.flatnonzero((columns.src == source) & (columns.payload_len > 0))
    size = _fresh(columns, row)
    return Trace(tuple(_bursts(columns.time_ns[row][size > 0], size[size > 0], gap_s)))


def fresh_bytes(segments: Iterable[tuple[int, int]]) -> list[int]:
    """How many bytes of each segment (sequence number of 32 bits, length) no earlier one of the connection had."""
    fresh: list[int] = []
    # What has not been seen yet below `top`; the first segment may itself have overtaken others.
    holes: list[tuple[int, int]] = []
    top = None
    for number, length in segments:
        if top is None:
            top = number
            holes.append((number - HALF, number))
        start = top + (number - top + HALF) % WHOLE - HALF
        end = start + length
        count = max(0, end - max(start, top))
        if start < top:
            filled = [(max(low, start), min(high, end)) for low, high in holes if low < end and start < high]
            if filled:
                count += sum(high - low for low, high in filled)
                holes = [part for hole in holes for part in _without(hole, start, end)]
        elif start > top:
            holes.append((top, start))
        top = max(top, end)
        fresh.append(count)
    return fresh


def _without(hole: tuple[int, int], start: int, end: int) -> Iterable[tuple[int, int]]:
    low, high = hole
    return [(a, b) for a, b in ((low, min(high, start)), (max(low, end), high)) if a < b]


def _senders(columns: TcpColumns) -> dict[int, int]:
    """Address to payload bytes sent, the one that sent the most first."""
    addresses, of = np.unique(columns.src, return_inverse=True)
    sent = np.bincount(of, weights=columns.payload_len, minlength=len(addresses))
    return {int(addresses[i]): int(sent[i]) for i in np.argsort(-sent, kind="stable") if sent[i] > 0}


def _address(text: str) -> int:
    try:
        return int(IPv4Address(text))
    except AddressValueError as error:
        raise Complaints([Complaint("--server", f"{text!r} is no address: {error}", valid="an IPv4 address")]) from None


def _fresh(columns: TcpColumns, row: np.ndarray) -> np.ndarray:
    """For each of the segments `row`, all from one host: how many bytes it has that its connection had not sent yet."""
    ends = np.stack([columns.dst[row], columns.sport[row], columns.dport[row]]).astype(np.int64)
    connections, of = np.unique(ends, axis=1, return_inverse=True)
    # A SYN takes a sequence number of its own, in front of any payload it carries.
    first = columns.seq[row].astype(np.int64) + (columns.flags[row] & SYN != 0)
    fresh = np.zeros(len(row), np.int64)
    for connection in range(connections.shape[1]):
        mine = np.flatnonzero(of.reshape(-1) == connection)
        fresh[mine] = fresh_bytes(zip(first[mine].tolist(), columns.payload_len[row[mine]].tolist(), strict=True))
    return fresh


def _bursts(time_ns: np.ndarray, size: np.ndarray, gap_s: float) -> Iterable[Burst]:
    order = np.argsort(time_ns, kind="stable")
    time_ns, size = time_ns[order], size[order]
    first = np.concatenate([[0], np.flatnonzero(np.diff(time_ns) >= gap_s * 1e9) + 1])
    for start_ns, total in zip(time_ns[first], np.add.reduceat(size, first), strict=True):
        start_us = round(int(start_ns - time_ns[0]) / 1000)
        yield Burst(start_us / 1000, max(int(total), SMALLEST_PACKET_BYTES))
