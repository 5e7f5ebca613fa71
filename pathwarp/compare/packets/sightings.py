# SPDX-License-Identifier: Apache-2.0
"""All packets that the captures of both hosts have, in one order, by numbers that two trials can be compared by."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from pathwarp.measure.inputs import Inputs
from pathwarp.measure.transports.subflows import Connection, Decoded, find_keys
from pathwarp.wire.mptcp import token_and_first_dsn
from pathwarp.wire.tcp import ACK

NO_FLOW = -1
DATA_FIN_BIT = 15  # of `options`, beside the MPTCP subtypes
_LOW = 0xFFFFFFFF


@dataclass(frozen=True)
class Sightings:
    """A row each time that a capture has a packet: in the order of time, at one instant the sender's captures first.

    All columns are int64. `time_ns` counts from the start of the flow. `host` is 0 for the sender of the data and 1 for
    the receiver, `path` the place in the plan's paths, `sent` 1 where the host sends the packet, 0 where it gets it.
    `flow` is the data connection's subflow; other TCP connections have the numbers after those, by their first packet;
    what is not TCP has NO_FLOW. `size` is that of the IP packet, `payload` its TCP payload. `seq` and `ack` count from
    the initial sequence numbers, `dsn` and `data_ack` from the first DSNs, all modulo 2^32; 0 where there is none.
    `dlen` is the mapping's length, `options` a bit for each MPTCP option and DATA_FIN_BIT, `address_id` that option's.
    """

    time_ns: np.ndarray
    host: np.ndarray
    path: np.ndarray
    sent: np.ndarray
    protocol: np.ndarray
    flow: np.ndarray
    size: np.ndarray
    payload: np.ndarray
    flags: np.ndarray
    seq: np.ndarray
    ack: np.ndarray
    dsn: np.ndarray
    dlen: np.ndarray
    data_ack: np.ndarray
    options: np.ndarray
    address_id: np.ndarray

    def __len__(self) -> int:
        return len(self.time_ns)

    def row(self, number: int) -> dict[str, int]:
        return {name: int(getattr(self, name)[number]) for name in COLUMNS}


COLUMNS = tuple(field.name for field in fields(Sightings))


def collect(inputs: Inputs, connection: Connection, decoded: dict[tuple[str, str], Decoded]) -> Sightings:
    """Merge the captures of both hosts; in place of the kernel's random numbers stand the distances from the first."""
    parts = list(_captures(inputs, decoded))
    table = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    # Stable: what one capture has at one instant stays in the capture's order.
    order = np.lexsort((table["path"], table["host"], table["time_ns"]))
    table = {name: column[order] for name, column in table.items()}
    table["flow"] = _flows(table, connection, inputs.flow_start_ns)
    table["seq"], table["ack"] = from_isn(table)
    bases = _first_dsns(inputs, connection, decoded)
    own = (table["flow"] >= 0) & (table["flow"] < len(connection.subflows))
    forward = table["forward"]
    for name, has, base in (
        ("dsn", "has_map", np.where(forward, *bases)),
        ("data_ack", "has_ack", np.where(forward, *bases[::-1])),
    ):
        known = own & table[has]
        table[name] = np.where(known, (table[name] - base) & np.uint64(_LOW), np.uint64(0))
    return Sightings(**{name: table[name].astype(np.int64) for name in COLUMNS})


def _captures(inputs: Inputs, decoded: dict[tuple[str, str], Decoded]) -> Iterator[dict[str, np.ndarray]]:
    """The columns of each capture, sequence numbers as they are on the wire."""
    senders = [inputs.address(inputs.ends[0], path) for path in inputs.paths]
    for host, name in enumerate(inputs.ends):
        for paths in inputs.captured(name).values():
            seen = decoded[name, paths[0]]
            rows, of_tcp = len(seen.ip.row), np.searchsorted(seen.ip.row, seen.tcp.row)
            forward = np.isin(seen.ip.src, senders)
            table = {
                "time_ns": seen.capture.time_ns[seen.ip.row] - inputs.flow_start_ns,
                "host": np.full(rows, host),
                "path": _paths(inputs, paths, seen, forward),
                "sent": forward == (host == 0),
                "forward": forward,
                "protocol": seen.ip.protocol,
                "size": seen.ip.total_len,
            }
            # The end at the sender of the data, then the receiver's; 0 for what is not TCP.
            source, target = (
                address.astype(np.int64) << 16 | port
                for address, port in ((seen.tcp.src, seen.tcp.sport), (seen.tcp.dst, seen.tcp.dport))
            )
            outward = forward[of_tcp]
            options = seen.mptcp.subtypes | seen.mptcp.data_fin.astype(np.uint16) << DATA_FIN_BIT
            columns = {
                "near": np.where(outward, source, target),
                "far": np.where(outward, target, source),
                "payload": seen.tcp.payload_len,
                "flags": seen.tcp.flags,
                "seq": seen.tcp.seq,
                "ack": seen.tcp.ack,
                "options": options,
                "address_id": seen.mptcp.address_id,
                "has_map": seen.mptcp.has_map & ~seen.mptcp.initial,
                "dsn": seen.mptcp.dsn,
                "dlen": seen.mptcp.dlen,
                "has_ack": seen.mptcp.has_ack,
                "data_ack": seen.mptcp.data_ack,
            }
            yield table | {column: spread(values, of_tcp, rows) for column, values in columns.items()}


def _paths(inputs: Inputs, paths: list[str], seen: Decoded, forward: np.ndarray) -> np.ndarray:
    """The path of each packet, by its addresses where several paths have the same interface."""
    found = np.full(len(forward), inputs.paths.index(paths[0]))
    sender, receiver = inputs.ends
    for path in paths[1:]:
        near, far = inputs.address(sender, path), inputs.address(receiver, path)
        source, target = (np.where(forward, *ends) for ends in ((near, far), (far, near)))
        found[(seen.ip.src == source) & (seen.ip.dst == target)] = inputs.paths.index(path)
    return found


def spread(values: np.ndarray, of_tcp: np.ndarray, rows: int) -> np.ndarray:
    """What the TCP segments have as a column of all packets, 0 for the others."""
    spread = np.zeros(rows, values.dtype)
    spread[of_tcp] = values
    return spread


def _flows(table: dict[str, np.ndarray], connection: Connection, start_ns: int) -> np.ndarray:
    """Number the connections: the data's subflows, then all others in the order of their first packet."""
    ends_of = [(flow.sender, flow.receiver) for flow in connection.subflows]
    own = [(near[0] << 16 | near[1], far[0] << 16 | far[1]) for near, far in ends_of]
    flows = number_flows(table, own)
    # Several may have used the same ends, one after the other.
    for number, flow in enumerate(connection.subflows):
        ours = (table["near"] == own[number][0]) & (table["far"] == own[number][1])
        flows[ours & flow.during(table["time_ns"] + start_ns)] = number
    return flows


def number_flows(table: dict[str, np.ndarray], own: Sequence[tuple[int, int]] = ()) -> np.ndarray:
    """Number the connections: those between the ends `own`, then all others in the order of their first packet."""
    ends = np.stack((table["near"], table["far"]), axis=1)
    known, first, which = np.unique(ends, axis=0, return_index=True, return_inverse=True)
    numbers = np.full(len(known), NO_FLOW)
    following = len(own)
    for place in np.argsort(first).tolist():
        pair = tuple(known[place].tolist())
        if pair in own:
            numbers[place] = own.index(pair)
        elif pair != (0, 0):
            numbers[place] = following
            following += 1
    return numbers[which.reshape(-1)]


def from_isn(table: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Sequence and ACK numbers counted from the first sequence number of their flow and direction."""
    directions = 2 * table["flow"].astype(np.int64) + table["forward"]
    isn = np.full(2 * int(table["flow"].max(initial=0)) + 2, -1)
    known, first = np.unique(directions, return_index=True)
    tcp = known >= 0
    isn[known[tcp]] = table["seq"][first[tcp]]
    of_tcp = table["flow"] >= 0
    own, other = (isn[np.where(of_tcp, direction, 0)] for direction in (directions, directions ^ 1))
    answers = of_tcp & (table["flags"] & ACK > 0) & (other >= 0)
    seq, ack = table["seq"].astype(np.int64), table["ack"].astype(np.int64)
    return np.where(of_tcp, (seq - own) & _LOW, 0), np.where(answers, (ack - other) & _LOW, 0)


def _first_dsns(
    inputs: Inputs, connection: Connection, decoded: dict[tuple[str, str], Decoded]
) -> tuple[np.uint64, np.uint64]:
    """The first DSN of the sender's stream and that of the receiver's; zeros in plain TCP."""
    captures = [decoded[inputs.ends[0], paths[0]] for paths in inputs.captured(inputs.ends[0]).values()]
    keys = next((keys for flow in connection.subflows if (keys := find_keys(flow, captures))), None)
    if keys is None:
        return np.uint64(0), np.uint64(0)
    sender, receiver = (np.uint64(token_and_first_dsn(key)[1]) for key in keys)
    return sender, receiver
