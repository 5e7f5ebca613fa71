# SPDX-License-Identifier: Apache-2.0
"""What each failure of a trial cost: an entry of `loss_events` for each, and what all of them come to."""

from statistics import median
from typing import Any

import numpy as np

from pathwarp.base.units import NS_PER_S
from pathwarp.measure import bursts, delays
from pathwarp.measure.analysis import Analysis
from pathwarp.measure.inputs import Failure
from pathwarp.measure.transports import reinjections
from pathwarp.model.metrics import MEDIANS

BEFORE_NS = NS_PER_S


def loss_events(trial: Analysis) -> list[dict[str, Any]]:
    """Return an entry for each failure, in the order of their instants (docs/reference/metrics.md, Loss events)."""
    failures = trial.inputs.failures
    starts = [0, *(failure.until_ns or failure.at_ns for failure in failures)]
    ends = [*(failure.at_ns for failure in failures[1:]), reinjections.NEVER]
    return [_entry(trial, number, failure, starts[number], ends[number]) for number, failure in enumerate(failures)]


def medians(events: list[dict[str, Any]]) -> dict[str, float | None]:
    """Return the median of each of MEDIANS over the events that have a value; None where none has."""
    found = {key: [event[key] for event in events if event[key] is not None] for key in MEDIANS}
    return {key: median(values) if values else None for key, values in found.items()}


def _entry(trial: Analysis, number: int, failure: Failure, since_ns: int, next_ns: int) -> dict[str, Any]:
    """The entry of a failure; the one before it was over at `since_ns`, the one behind it begins at `next_ns`."""
    table, resent, messages = trial.packets, trial.resent, trial.messages
    path = trial.inputs.paths.index(failure.path)
    taken = bursts.lost_by_failure(trial.inputs, table, resent, failure)
    recovered_ns = reinjections.repaired_ns(table, taken)
    first = reinjections.first_after(table, resent, failure, path, next_ns)
    increase = gap = None
    if recovered_ns is not None:
        increase = delays.increase_ms(messages, failure.at_ns, recovered_ns, since_ns)
    if taken.any():
        gap = delays.largest_gap_ms(messages, failure.at_ns, next_ns if recovered_ns is None else recovered_ns)
    period = next(((start, end) for start, end in trial.periods if start <= failure.at_ns < end), None)
    inside = np.zeros(len(table), bool)
    if period:
        inside = (table.time_ns >= period[0]) & (table.time_ns < period[1])
    sent = int(inside.sum())
    reinjected = int((resent.reinjected[inside] > 0).sum())
    return {
        "event": number,
        "path": failure.path,
        "at_s": (failure.at_ns - trial.inputs.flow_start_ns) / 1e9,
        "path_share_fraction": _share(trial, failure, path),
        "lost_packets": int(taken.sum()),
        "delay_increase_ms": increase,
        "max_interarrival_gap_ms": gap,
        "time_to_first_reinjection_ms": None if first is None else _ms(int(table.time_ns[first]) - failure.at_ns),
        "recovery_ms": None if recovered_ns is None else _ms(recovered_ns - failure.at_ns),
        "packets": sent,
        "reinjected_packets": reinjected,
        "spurious_reinjected_packets": int((resent.spurious[inside] > 0).sum()),
        "reinjection_rate": reinjected / sent if sent else None,
        "removal_after_ms": _ms(period[1] - failure.at_ns) if period and period[1] < next_ns else None,
        "rejoined_after_ms": _rejoined_ms(trial, failure, next_ns),
    }


def _share(trial: Analysis, failure: Failure, path: int) -> float | None:
    """The share of the packets with new data in the second before a failure that were sent on its path."""
    table = trial.packets
    before = (table.time_ns >= failure.at_ns - BEFORE_NS) & (table.time_ns < failure.at_ns) & (trial.resent.new > 0)
    return float((table.path[before] == path).mean()) if before.any() else None


def _rejoined_ms(trial: Analysis, failure: Failure, next_ns: int) -> float | None:
    """From a failure's end to the first MP_JOIN on its path; None where nothing joined before the next failure."""
    if failure.until_ns is None:
        return None
    joins = (
        flow.syn_ns
        for flow in trial.connection.subflows
        if flow.joined and flow.path == failure.path and failure.until_ns <= flow.syn_ns < next_ns
    )
    first = min(joins, default=None)
    return None if first is None else _ms(first - failure.until_ns)


def _ms(span_ns: int) -> float:
    return span_ns / 1e6
