# SPDX-License-Identifier: Apache-2.0
"""The data packets of a trial over all paths: when sent, when arrived, which bytes of the stream they carry."""

from dataclasses import dataclass, fields

import numpy as np

from pathwarp.base.broken import broken
from pathwarp.measure.inputs import Inputs
from pathwarp.measure.transports.subflows import Connection, Decoded
from pathwarp.wire import mptcp

LOST = -1


@dataclass(frozen=True)
class Packets:
    """Data packets that the sender put on the network, in the order sent, retransmissions and reinjections included.

    `path` and `subflow` are places in the plan's paths and in the connection's subflows. `seq` counts the subflow's
    bytes from 1, `offset` the stream's bytes from 0, `length` is the payload in bytes. `arrival_ns` is when the
    receiver's capture saw the packet, LOST when it never did. `delivered`: it arrived and the receiver could take it.
    """

    time_ns: np.ndarray
    path: np.ndarray
    subflow: np.ndarray
    seq: np.ndarray
    offset: np.ndarray
    length: np.ndarray
    arrival_ns: np.ndarray
    delivered: np.ndarray

    def __len__(self) -> int:
        return len(self.time_ns)

    @property
    def end(self) -> np.ndarray:
        return self.offset + self.length


@dataclass(frozen=True)
class Segments:
    """The connection's data segments in one capture: `row` in its TCP columns, `subflow` in the connection."""

    row: np.ndarray
    subflow: np.ndarray


def data_segments(connection: Connection, seen: Decoded, path: str) -> Segments:
    """Return the segments with payload that the sender put on the path's subflows, in the order captured."""
    rows, owners = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for number, flow in enumerate(connection.subflows):
        if flow.path != path:
            continue
        row = np.flatnonzero(flow.rows(seen.tcp) & (seen.tcp.payload_len > 0))
        rows.append(row)
        owners.append(np.full(len(row), number))
    row, owner = np.concatenate(rows), np.concatenate(owners)
    order = np.argsort(row)
    return Segments(row[order], owner[order])


def pair(inputs: Inputs, path: str, sent: Segments, got: Segments, decoded: dict) -> np.ndarray:
    """Return when each packet of the sender's capture reached the receiver's capture of the same path, or LOST.

    A packet is known by subflow, IP identification and sequence number. Where these come again (65536 packets later),
    an arrival belongs to the last one sent before it.
    """
    sides = [(decoded[host, path].tcp, segments) for host, segments in zip(inputs.ends, (sent, got), strict=True)]
    key = np.concatenate(
        [s.subflow.astype(np.uint64) << 48 | t.ident[s.row].astype(np.uint64) << 32 | t.seq[s.row] for t, s in sides]
    )
    time_ns = np.concatenate([t.time_ns[s.row] for t, s in sides])
    arrived = np.repeat([False, True], [len(sent.row), len(got.row)])
    order = np.lexsort((arrived, time_ns, key))
    follows = (key[order][1:] == key[order][:-1]) & arrived[order][1:] & ~arrived[order][:-1]
    arrival_ns = np.full(len(key), LOST)
    arrival_ns[order[:-1][follows]] = time_ns[order[1:][follows]]
    unknown = len(got.row) - int(np.isin(key[arrived], key[~arrived]).sum())
    if unknown:
        where = inputs.capture(inputs.ends[0], path)
        raise broken(where, f"lacks {unknown} data packets that the receiver's capture of the path has")
    return arrival_ns[: len(sent.row)]


def unwrap(number: np.ndarray, start: int) -> np.ndarray:
    """Return how far each 32-bit number lies from `start` (int64); each is less than 2 GiB from the one before."""
    return np.cumsum(np.diff(number, prepend=np.uint32(start)).view(np.int32).astype(np.int64))


def collect(inputs: Inputs, connection: Connection, decoded: dict[tuple[str, str], Decoded]) -> Packets:
    """Merge the sender's captures into one table in the order sent; at one instant the paths' order counts."""
    sender, receiver = inputs.ends
    parts = []
    for number, path in enumerate(inputs.paths):
        seen = decoded[sender, path]
        sent = data_segments(connection, seen, path)
        got = data_segments(connection, decoded[receiver, path], path)
        columns = {name: getattr(seen.tcp, name)[sent.row] for name in ("time_ns", "seq", "payload_len")}
        maps = ("has_map", "initial", "dsn", "wide_dsn", "ssn", "dlen")
        columns |= {name: getattr(seen.mptcp, name)[sent.row] for name in maps}
        columns["subflow"], columns["path"] = sent.subflow, np.full(len(sent.row), number)
        parts.append(columns | {"arrival_ns": pair(inputs, path, sent, got, decoded)})
    table = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.argsort(table["time_ns"], kind="stable")
    table = {name: column[order] for name, column in table.items()}
    for number, flow in enumerate(connection.subflows):
        own = table["subflow"] == number
        table["seq"] = table["seq"].astype(np.int64)
        table["seq"][own] = unwrap(table["seq"][own].astype(np.uint32), flow.isn)
    offset = table["seq"] - 1 if connection.first_dsn is None else stream_offsets(inputs, connection, table)
    delivered = table["arrival_ns"] != LOST
    for failure in inputs.failures:
        if failure.heard:
            after = (table["path"] == inputs.paths.index(failure.path)) & (table["arrival_ns"] >= failure.at_ns)
            delivered &= ~(after & (failure.until_ns is None or table["arrival_ns"] < failure.until_ns))
    columns = table | {"offset": offset, "length": table["payload_len"], "delivered": delivered}
    return Packets(**{field.name: columns[field.name] for field in fields(Packets)})


def stream_offsets(inputs: Inputs, connection: Connection, table: dict[str, np.ndarray]) -> np.ndarray:
    """Return the offset in the stream of each segment's first byte, from the DSS mappings (RFC 8684, section 3.3.1).

    A mapping may cover several segments and a segment may come without one: it then belongs to the mapping of its
    subflow that covers its sequence number. A mapping of length 0 (a fall-back) has no end.
    """
    mapped = np.flatnonzero(table["has_map"])
    maps = {name: table[name][mapped] for name in ("subflow", "initial", "wide_dsn", "ssn", "seq")}
    length = np.where(table["dlen"][mapped] == 0, np.int64(2**62), table["dlen"][mapped])
    assert connection.first_dsn is not None, "plain TCP has no mappings"
    first = np.uint64(connection.first_dsn)
    dsn = mptcp.extend(np.where(maps["initial"], first, table["dsn"][mapped]), maps["wide_dsn"], connection.first_dsn)
    into = (maps["seq"].astype(np.uint32) - maps["ssn"]).view(np.int32).astype(np.int64)
    start, shift = maps["seq"] - into, (dsn - first).view(np.int64) + into - maps["seq"]
    own = (into >= 0) & (into < length)
    offset = np.full(len(table["seq"]), -1)
    offset[mapped[own]] = (table["seq"][mapped] + shift)[own]
    for number in range(len(connection.subflows)):
        bare = np.flatnonzero((table["subflow"] == number) & (offset < 0))
        of_flow = maps["subflow"] == number
        if len(bare) and of_flow.any():
            offset[bare] = look_up(start[of_flow], length[of_flow], shift[of_flow], table["seq"][bare])
    if (offset < 0).any():
        row = int(np.argmax(offset < 0))
        where = inputs.capture(inputs.ends[0], inputs.paths[table["path"][row]])
        raise broken(where, f"has data without a DSS mapping at {table['time_ns'][row]} ns", "captured too short?")
    return offset


def look_up(start: np.ndarray, length: np.ndarray, shift: np.ndarray, seq: np.ndarray) -> np.ndarray:
    """Return the stream offsets of subflow sequence numbers by the mappings that cover them, -1 where none does.

    Mappings with one shift that touch or overlap are one run, so a run is found by one binary search.
    """
    order = np.lexsort((length, start))
    start, end, shift = start[order], (start + length)[order], shift[order]
    reach = np.maximum.accumulate(end)
    begins = np.concatenate(([True], (shift[1:] != shift[:-1]) | (start[1:] > reach[:-1])))
    runs = np.flatnonzero(begins)
    run = np.searchsorted(start[runs], seq, side="right") - 1
    run_end = np.maximum.reduceat(end, runs)
    covered = (run >= 0) & (seq < run_end[run])
    return np.where(covered, seq + shift[runs][run], -1)
