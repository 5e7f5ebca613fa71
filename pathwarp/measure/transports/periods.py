# SPDX-License-Identifier: Apache-2.0
"""The periods in which a connection has more than one subflow."""

from pathwarp.measure.inputs import Inputs
from pathwarp.measure.transports.subflows import FOREVER, Connection, Decoded, own_signals
from pathwarp.wire.mptcp import Subtype


def established(
    inputs: Inputs, connection: Connection, decoded: dict[tuple[str, str], Decoded]
) -> list[tuple[int, int]]:
    """Return (start, end) in epoch ns of each period from an MP_JOIN to the next REMOVE_ADDR, FOREVER without one.

    Both as the sender's captures see them (rejection21, section IV). A connection that nothing joined has none.
    """
    sender, _ = inputs.ends
    removals = [
        int(seen.tcp.time_ns[row])
        for seen in (decoded[sender, paths[0]] for paths in inputs.captured(sender).values())
        for flow in connection.subflows
        for row, *_ in own_signals(flow, seen, Subtype.REMOVE_ADDR)
    ]
    events = sorted(
        {(flow.syn_ns, True) for flow in connection.subflows if flow.joined} | {(ns, False) for ns in removals}
    )
    periods, start = [], None
    for at_ns, joins in events:
        if joins and start is None:
            start = at_ns
        elif not joins and start is not None:
            periods.append((start, at_ns))
            start = None
    return periods if start is None else [*periods, (start, FOREVER)]
