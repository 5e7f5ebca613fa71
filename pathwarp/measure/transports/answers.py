# SPDX-License-Identifier: Apache-2.0
"""What the receiver of the data answers: its packets without data, as the captures of both hosts have them."""

from collections.abc import Iterator

import numpy as np

from pathwarp.measure.inputs import Inputs
from pathwarp.measure.transports.subflows import Connection, Decoded, Subflow

COLUMNS = ("time_ns", "ident", "ack")


def from_receiver(flow: Subflow, seen: Decoded) -> dict[str, np.ndarray]:
    """Return time, IP identification and ACK number of a subflow's packets without data that the receiver sent."""
    tcp = seen.tcp
    ports = (tcp.sport == flow.receiver[1]) & (tcp.dport == flow.sender[1]) & (tcp.payload_len == 0)
    rows = ports & (tcp.src == flow.receiver[0]) & (tcp.dst == flow.sender[0]) & flow.during(tcp.time_ns)
    return {name: getattr(tcp, name)[rows] for name in COLUMNS}


def acks(
    inputs: Inputs, connection: Connection, decoded: dict[tuple[str, str], Decoded], window: tuple[int, int]
) -> Iterator[tuple[str, int, int | None]]:
    """Yield (path, sent, arrived) of each such packet that is sent in the window (epoch ns); None: it never arrived.

    A packet is known again at the sender of the data by IP identification and ACK number.
    """
    sender, receiver = inputs.ends
    for flow in connection.subflows:
        arrivals: dict[tuple[int, int], list[int]] = {}
        for time_ns, *key in _inside(from_receiver(flow, decoded[sender, flow.path]), window):
            arrivals.setdefault((key[0], key[1]), []).append(time_ns)
        for sent_ns, *key in _inside(from_receiver(flow, decoded[receiver, flow.path]), window):
            later = [time_ns for time_ns in arrivals.get((key[0], key[1]), ()) if time_ns >= sent_ns]
            yield flow.path, sent_ns, min(later, default=None)


def _inside(columns: dict[str, np.ndarray], window: tuple[int, int]) -> Iterator[tuple[int, int, int]]:
    inside = slice(*columns["time_ns"].searchsorted(window))
    return zip(*(columns[name][inside].tolist() for name in COLUMNS), strict=True)
