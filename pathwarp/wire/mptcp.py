# SPDX-License-Identifier: Apache-2.0
"""MPTCP options of a capture's TCP segments as columns (RFC 8684, section 3)."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from pathwarp.wire.pcap import Capture, gather
from pathwarp.wire.tcp import TcpColumns

END_OF_OPTIONS, NOP, MPTCP = 0, 1, 30
TIMESTAMP_FIRST = 0x0101080A  # NOP, NOP, timestamps of 10 bytes: how Linux begins the options of almost every segment

# Flags of a DSS option.
HAS_ACK, WIDE_ACK, HAS_MAP, WIDE_DSN, DATA_FIN = 0x01, 0x02, 0x04, 0x08, 0x10


class Subtype(IntEnum):
    """What an MPTCP option is."""

    MP_CAPABLE = 0
    MP_JOIN = 1
    DSS = 2
    ADD_ADDR = 3
    REMOVE_ADDR = 4
    MP_PRIO = 5
    MP_FAIL = 6
    MP_FASTCLOSE = 7
    MP_TCPRST = 8


@dataclass(frozen=True)
class Signals:
    """The options other than DSS, one row each; a REMOVE_ADDR with several address ids has a row for each id.

    `segment` is the row in the TCP columns, `flags` the four bits after the subtype, `address_id` -1 where the option
    has none. The option lies at `at` in the capture's data and is `length` bytes long.
    """

    segment: np.ndarray
    subtype: np.ndarray
    flags: np.ndarray
    address_id: np.ndarray
    at: np.ndarray
    length: np.ndarray


@dataclass(frozen=True)
class MptcpColumns:
    """MPTCP options, one row per row of the TCP columns.

    `subtypes` has bit n set where an option of subtype n is; `address_id` is -1 or that of a JOIN, ADD_ADDR,
    REMOVE_ADDR (the first id) or MP_PRIO. Where `has_map`: `dsn`, subflow sequence number `ssn` (1 is the first byte)
    and data-level length `dlen`; a DSN or data ACK of 4 bytes is not `wide` and still to be extended (see `extend`).
    `initial`: the mapping of an MP_CAPABLE with data, which states its length alone (section 3.1).
    """

    subtypes: np.ndarray
    address_id: np.ndarray
    has_dss: np.ndarray
    has_map: np.ndarray
    initial: np.ndarray
    dsn: np.ndarray
    wide_dsn: np.ndarray
    ssn: np.ndarray
    dlen: np.ndarray
    data_fin: np.ndarray
    has_ack: np.ndarray
    data_ack: np.ndarray
    wide_ack: np.ndarray
    signals: Signals


def options(data: np.ndarray, at: np.ndarray, end: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield (segments, positions, lengths) of the whole MPTCP options from `at` to `end`, one of a segment at a time.

    All segments take a step at a time. A segment's walk ends at its end, at an end-of-options byte or at a bad length.
    """
    segment = np.flatnonzero(end - at >= 4)
    at, end = at[segment], end[segment]
    at = at + 12 * ((gather(data, at, ">u4") == TIMESTAMP_FIRST) & (end - at >= 12))
    while len(segment):
        inside = at < end
        segment, at, end = segment[inside], at[inside], end[inside]
        kind = data[at]
        length = np.where(kind == NOP, 1, data[np.minimum(at + 1, data.size - 1)]).astype(np.int64)
        whole = (kind != END_OF_OPTIONS) & (at + length <= end) & ((length >= 2) | (kind == NOP))
        found = whole & (kind == MPTCP) & (length >= 3)
        yield segment[found], at[found], length[found]
        segment, at, end = segment[whole], (at + length)[whole], end[whole]


def decode(capture: Capture, tcp: TcpColumns) -> MptcpColumns:
    """Decode the MPTCP options of all segments."""
    rows, data = len(tcp), capture.data
    columns = MptcpColumns(
        subtypes=np.zeros(rows, np.uint16),
        address_id=np.full(rows, -1, np.int16),
        has_dss=np.zeros(rows, bool),
        has_map=np.zeros(rows, bool),
        initial=np.zeros(rows, bool),
        dsn=np.zeros(rows, np.uint64),
        wide_dsn=np.zeros(rows, bool),
        ssn=np.zeros(rows, np.uint32),
        dlen=np.zeros(rows, np.int64),
        data_fin=np.zeros(rows, bool),
        has_ack=np.zeros(rows, bool),
        data_ack=np.zeros(rows, np.uint64),
        wide_ack=np.zeros(rows, bool),
        signals=Signals(*(np.empty(0, np.int64) for _ in range(6))),
    )
    others = []
    for segment, at, length in options(data, tcp.options_at, tcp.options_end):
        subtype = data[at + 2] >> 4
        columns.subtypes[segment] |= np.left_shift(1, subtype, dtype=np.uint16, casting="unsafe")
        is_dss = (subtype == Subtype.DSS) & (length >= 4)
        decode_dss(data, columns, segment[is_dss], at[is_dss], length[is_dss])
        is_other = subtype != Subtype.DSS
        others.append(np.array([segment[is_other], at[is_other], length[is_other]]))
    return add_signals(data, columns, np.concatenate(others, axis=1) if others else np.empty((3, 0), np.int64))


def decode_dss(
    data: np.ndarray, columns: MptcpColumns, segment: np.ndarray, at: np.ndarray, length: np.ndarray
) -> None:
    """Fill in the DSS columns of the segments (section 3.3); an option too short for its own flags counts as none."""
    flags = data[at + 3]
    ack_len = np.where(flags & HAS_ACK, np.where(flags & WIDE_ACK, 8, 4), 0)
    dsn_len = np.where(flags & HAS_MAP, np.where(flags & WIDE_DSN, 8, 4), 0)
    good = length >= 4 + ack_len + np.where(flags & HAS_MAP, dsn_len + 6, 0)
    segment, at, flags, ack_len, dsn_len = segment[good], at[good], flags[good], ack_len[good], dsn_len[good]
    columns.has_dss[segment] = True
    columns.data_fin[segment] = flags & DATA_FIN != 0
    for size in (4, 8):
        ack = ack_len == size
        columns.has_ack[segment[ack]] = True
        columns.wide_ack[segment[ack]] = size == 8
        columns.data_ack[segment[ack]] = gather(data, at[ack] + 4, f">u{size}")
        mapping = dsn_len == size
        rows, dsn_at = segment[mapping], at[mapping] + 4 + ack_len[mapping]
        columns.has_map[rows] = True
        columns.wide_dsn[rows] = size == 8
        columns.dsn[rows] = gather(data, dsn_at, f">u{size}")
        columns.ssn[rows] = gather(data, dsn_at + size, ">u4")
        columns.dlen[rows] = gather(data, dsn_at + size + 4, ">u2")


def add_signals(data: np.ndarray, columns: MptcpColumns, others: np.ndarray) -> MptcpColumns:
    """Return the columns with the options other than DSS; they are few, so one Python step for each is quick."""
    table = []
    for segment, at, length in others[:, np.argsort(others[0], kind="stable")].T.tolist():
        subtype, flags = int(data[at + 2]) >> 4, int(data[at + 2]) & 0x0F
        named = {
            Subtype.MP_JOIN: data[at + 3 : at + 4] if length < 24 else data[:0],  # the third ACK has the HMAC alone
            Subtype.ADD_ADDR: data[at + 3 : at + 4],
            Subtype.REMOVE_ADDR: data[at + 3 : at + length],
            Subtype.MP_PRIO: data[at + 3 : at + length],
        }
        ids = named[Subtype(subtype)].tolist() if subtype in named else []
        ids = ids or [-1]
        table += [(segment, subtype, flags, i, at, length) for i in ids]
        if ids[0] >= 0:
            columns.address_id[segment] = ids[0]
        if subtype == Subtype.MP_CAPABLE and length >= 22:
            columns.has_map[segment] = columns.initial[segment] = True
            columns.ssn[segment] = 1
            columns.dlen[segment] = int.from_bytes(data[at + 20 : at + 22].tobytes(), "big")
    signals = Signals(*np.array(table, np.int64).reshape(-1, 6).T)
    return MptcpColumns(**{**vars(columns), "signals": signals})


def extend(number: np.ndarray, wide: np.ndarray, start: int) -> np.ndarray:
    """Return 64-bit sequence numbers (uint64) for `number`, of which only the low 32 bits count where not `wide`.

    The rows are in time order and begin near `start`; each one lies within 2 GiB of the one before (section 3.3.1).
    """
    low = np.concatenate(([start & 0xFFFFFFFF], number & 0xFFFFFFFF)).astype(np.uint32)
    steps = np.diff(low).view(np.int32).astype(np.int64)
    return np.where(wide, number, np.cumsum(steps).astype(np.uint64) + np.uint64(start))


def token_and_first_dsn(key: int) -> tuple[int, int]:
    """Return a key's token and the DSN of the first byte that its owner sends (SHA-256; sections 3.1 and 3.2)."""
    digest = hashlib.sha256(key.to_bytes(8, "big")).digest()
    return int.from_bytes(digest[:4], "big"), (int.from_bytes(digest[-8:], "big") + 1) % 2**64
