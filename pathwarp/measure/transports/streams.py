# SPDX-License-Identifier: Apache-2.0
"""TCP and Multipath TCP: what a flow's packets were, path by path."""

import numpy as np

from pathwarp.measure.inputs import Inputs
from pathwarp.measure.transports import packets, reinjections, subflows
from pathwarp.measure.transports.carried import Carried
from pathwarp.measure.transports.packets import LOST, Packets
from pathwarp.measure.transports.reinjections import Resent
from pathwarp.measure.transports.subflows import Decoded


def carried(inputs: Inputs, decoded: dict[tuple[str, str], Decoded], from_ns: int, until_ns: int) -> Carried:
    """Return what the flow of a plan's orders did; its bytes are those from `from_ns` to before `until_ns` (epoch)."""
    table = packets.collect(inputs, subflows.find_connection(inputs, decoded), decoded)
    return of_packets(inputs, table, reinjections.classify(table), from_ns, until_ns)


def of_packets(inputs: Inputs, table: Packets, resent: Resent, from_ns: int, until_ns: int) -> Carried:
    """Return the same of packets that are known."""
    arrived = table.arrival_ns != LOST
    in_time = arrived & (table.arrival_ns >= from_ns) & (table.arrival_ns < until_ns)
    bytes_on = np.bincount(table.path[in_time], table.length[in_time], len(inputs.paths))
    is_mptcp = inputs.plan["transport"] == "mptcp"
    return Carried(
        sent=len(table),
        lost=int((~arrived).sum()),
        retransmitted=int((resent.retransmitted > 0).sum()),
        reinjected=int((resent.reinjected > 0).sum()) if is_mptcp else None,
        arrived_bytes={path: int(bytes_on[number]) for number, path in enumerate(inputs.paths)},
    )
