# SPDX-License-Identifier: Apache-2.0
"""Which packets are tail loss probes, told from what the sender's captures show and its kernel counted."""

from collections.abc import Mapping

import numpy as np

from pathwarp.base.units import NS_PER_MS
from pathwarp.measure.analysis import Analysis
from pathwarp.measure.transports.answers import from_receiver
from pathwarp.measure.transports.packets import Packets

# The kernel's counters that say whether there were probes, and whether they went out on other subflows too.
PROBES, PROBES_ELSEWHERE = "TcpExtTCPLossProbes", "MPTcpExtProbeOther"
JIFFY_NS = NS_PER_MS


def are_probes(analysis: Analysis, rows: range, counters: Mapping[str, int]) -> np.ndarray:
    """Return which of these rows of the data packets are probes or their copies (bool); none where none was counted."""
    found = _probes(analysis, rows) if counters.get(PROBES) else set()
    if counters.get(PROBES_ELSEWHERE):
        found |= _copies(analysis, rows, found)
    return np.array([row in found for row in rows], bool)


def _probes(analysis: Analysis, rows: range) -> set[int]:
    """Rows that repeat a subflow's last segment when it has had neither an answer nor a retransmission since.

    What Linux does: after a flight without an answer the first timer, the PTO, repeats the last segment (or sends a new
    one, which no capture tells from other data); all later timers are RTOs, which repeat the first segment.
    """
    table, resent = analysis.packets, analysis.resent
    found: set[int] = set()
    for number, flow in enumerate(analysis.connection.subflows):
        own = (table.subflow == number).nonzero()[0]
        end = table.seq[own] + table.length[own]
        heard_ns = from_receiver(flow, analysis.decoded[analysis.inputs.ends[0], flow.path])["time_ns"]
        heard = heard_ns.searchsorted(table.time_ns[own], side="right")
        for i in range(*own.searchsorted((rows.start, rows.stop)).tolist()):
            again_before = i > 0 and resent.retransmitted[own[i - 1]] > 0 and heard[i - 1] == heard[i]
            if resent.retransmitted[own[i]] and not again_before and end[i] == end[: i + 1].max():
                found.add(int(own[i]))
    return found


def _copies(analysis: Analysis, rows: range, probes: set[int]) -> set[int]:
    """Rows of other subflows that carry a probe's bytes; where the probe is new data, its own row as well.

    The copy of a probe may have to wait, but not beyond the probing subflow's RTO. A probe with new data is known only
    by a copy in the same jiffy.
    """
    table, resent = analysis.packets, analysis.resent
    found: set[int] = set()
    for probe in sorted(probes):
        same = table.subflow[probe + 1 : rows.stop] == table.subflow[probe]
        again = (same & (resent.retransmitted[probe + 1 : rows.stop] > 0)).nonzero()[0]
        until = probe + 1 + int(again[0]) if len(again) else rows.stop
        # The path order of one instant may put the copy first.
        since = int(table.time_ns.searchsorted(table.time_ns[probe]))
        found |= {row for row in range(since, until) if resent.reinjected[row] and _same_bytes(table, row, probe)}
    for copy in (row for row in rows if resent.reinjected[row]):
        since, until = table.time_ns.searchsorted((table.time_ns[copy] - JIFFY_NS, table.time_ns[copy] + JIFFY_NS))
        news = (row for row in range(int(since), int(until)) if resent.new[row] and _same_bytes(table, row, copy))
        found.update(row for new in news for row in (new, copy))
    return found


def _same_bytes(table: Packets, row: int, other: int) -> bool:
    """Whether two subflows carry the same data."""
    same = table.offset[row] == table.offset[other] and table.length[row] == table.length[other]
    return bool(same and table.subflow[row] != table.subflow[other])
