# SPDX-License-Identifier: Apache-2.0
"""What the receiver of the data answers: its packets without data, as the captures of both hosts have them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pathwarp.measure.inputs import Inputs
from pathwarp.measure.transports.subflows import FOREVER, Connection, Decoded, Subflow
from pathwarp.wire import mptcp
from pathwarp.wire.tcp import ACK, FIN, RST, SYN

COLUMNS = ("time_ns", "ident", "ack")


@dataclass(frozen=True)
class Answer:
    """A packet without data: its path, when it was sent (epoch ns) and when it arrived, None where it never did."""

    path: str
    sent_ns: int
    arrived_ns: int | None


def rows_of_receiver(flow: Subflow, seen: Decoded) -> np.ndarray:
    """Return which segments are a subflow's packets without data that the receiver sent (bool)."""
    tcp = seen.tcp
    ports = (tcp.sport == flow.receiver[1]) & (tcp.dport == flow.sender[1]) & (tcp.payload_len == 0)
    return ports & (tcp.src == flow.receiver[0]) & (tcp.dst == flow.sender[0]) & flow.during(tcp.time_ns)


def from_receiver(flow: Subflow, seen: Decoded) -> dict[str, np.ndarray]:
    """Return time, IP identification and ACK number of a subflow's packets without data that the receiver sent."""
    rows = rows_of_receiver(flow, seen)
    return {name: getattr(seen.tcp, name)[rows] for name in COLUMNS}


def covering(
    inputs: Inputs, connection: Connection, decoded: dict[tuple[str, str], Decoded], byte: int
) -> Iterator[Answer]:
    """Yield the pure acknowledgments of a byte of the stream, by each subflow from its first data on.

    Over MPTCP that is the Data ACK (RFC 8684, section 3.3.2), whichever subflow it comes on.
    """
    sender, receiver = inputs.ends
    for flow in connection.subflows:
        seen, sent = decoded[receiver, flow.path], decoded[sender, flow.path].tcp
        data = sent.time_ns[flow.rows(sent) & (sent.payload_len > 0)]
        rows = rows_of_receiver(flow, seen) & (seen.tcp.flags & (SYN | FIN | RST | ACK) == ACK)
        rows &= seen.tcp.time_ns >= (data[0] if len(data) else FOREVER)
        if connection.first_dsn is None:
            acked = (seen.tcp.ack[rows].astype(np.uint32) - np.uint32(flow.isn + 1 & 0xFFFFFFFF)).astype(np.int64)
        else:
            rows &= seen.mptcp.has_ack
            wide = mptcp.extend(seen.mptcp.data_ack[rows], seen.mptcp.wide_ack[rows], connection.first_dsn)
            acked = (wide - np.uint64(connection.first_dsn)).view(np.int64)
        found = {name: getattr(seen.tcp, name)[rows][acked > byte] for name in COLUMNS}
        yield from _arrivals(flow, found, from_receiver(flow, decoded[sender, flow.path]))


def acks(
    inputs: Inputs, connection: Connection, decoded: dict[tuple[str, str], Decoded], window: tuple[int, int]
) -> Iterator[Answer]:
    """Yield each such packet that is sent in the window (epoch ns).

    A packet is known again at the sender of the data by IP identification and ACK number.
    """
    sender, receiver = inputs.ends
    for flow in connection.subflows:
        sent, got = (
            {name: column[slice(*columns["time_ns"].searchsorted(window))] for name, column in columns.items()}
            for columns in (from_receiver(flow, decoded[host, flow.path]) for host in (receiver, sender))
        )
        yield from _arrivals(flow, sent, got)


def _arrivals(flow: Subflow, sent: dict[str, np.ndarray], got: dict[str, np.ndarray]) -> Iterator[Answer]:
    arrivals: dict[tuple[int, int], list[int]] = {}
    for time_ns, *key in zip(*(got[name].tolist() for name in COLUMNS), strict=True):
        arrivals.setdefault((key[0], key[1]), []).append(time_ns)
    for sent_ns, *key in zip(*(sent[name].tolist() for name in COLUMNS), strict=True):
        later = [time_ns for time_ns in arrivals.get((key[0], key[1]), ()) if time_ns >= sent_ns]
        yield Answer(flow.path, sent_ns, min(later, default=None))
