# SPDX-License-Identifier: Apache-2.0
"""What a failure sets going at the sender, as its captures show it."""

import numpy as np

from pathwarp.base.units import NS_PER_MS
from pathwarp.measure.analysis import Analysis
from pathwarp.measure.inputs import Failure
from pathwarp.measure.transports.reinjections import NEVER

# A packet that a failure takes was sent before it, or at most so long.
_UNDER_WAY_NS = 1_000 * NS_PER_MS


def timers(analysis: Analysis) -> dict[str, dict[int, float]]:
    """Name to failure's number to ms: from the first packet that a failure took to its subflow's first retransmission
    (after a silence the PTO's, RFC 8985, section 7), from that to the second (the RTO's, RFC 6298), and from the packet
    to the first that brings its first byte on another subflow.
    """
    found: dict[str, dict[int, float]] = {}
    for number, failure in enumerate(analysis.inputs.failures):
        for name, span_ns in _spans(analysis, failure).items():
            found.setdefault(name, {})[number] = span_ns / NS_PER_MS
    return found


def _spans(analysis: Analysis, failure: Failure) -> dict[str, int]:
    table, resent = analysis.packets, analysis.resent
    until_ns = failure.until_ns or NEVER
    in_time = (table.time_ns >= failure.at_ns - _UNDER_WAY_NS) & (table.time_ns < until_ns)
    taken = in_time & (table.path == analysis.inputs.paths.index(failure.path)) & ~table.delivered & (resent.new > 0)
    if not taken.any():
        return {}
    first = int(taken.argmax())
    later = in_time & (np.arange(len(table)) > first)
    again = table.time_ns[later & (table.subflow == table.subflow[first]) & (resent.retransmitted > 0)]
    has_byte = (table.offset <= table.offset[first]) & (table.end > table.offset[first])
    elsewhere = table.time_ns[later & has_byte & (table.subflow != table.subflow[first])]
    start_ns = int(table.time_ns[first])
    instants = {"first retransmission": again[:1] - start_ns, "second retransmission": again[1:2] - again[:1]}
    instants["reinjection"] = elsewhere[:1] - start_ns
    return {name: int(spans[0]) for name, spans in instants.items() if len(spans)}
