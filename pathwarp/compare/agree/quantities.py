# SPDX-License-Identifier: Apache-2.0
"""What is compared of a trial: the scenario's metrics, the sender's timers, and what the machine itself adds."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from pathwarp.base.units import NS_PER_MS
from pathwarp.compare.agree.timers import timers
from pathwarp.measure.analysis import analyse
from pathwarp.measure.transits import median_transit_ns
from pathwarp.model.metrics import METRICS
from pathwarp.results.reading import TrialResult

# Quantity, with its unit, to what it was of (seed, and for some loss event, burst or event) to the value.
Quantities = dict[str, dict[Hashable, float]]


def quantities(trials: Iterable[TrialResult], metrics: Sequence[str]) -> Quantities:
    """All quantities of the trials of one variant and traffic; what one doesn't have is left out."""
    found: Quantities = {}
    for trial in trials:
        for name, values in _of(trial, metrics):
            found.setdefault(name, {}).update({(trial.seed, key): value for key, value in values.items()})
    return found


def _of(trial: TrialResult, metrics: Sequence[str]) -> Iterable[tuple[str, Mapping[Any, float]]]:
    for metric in metrics:
        values = {event: value for (_, event), value in trial.values(metric).items() if value is not None}
        yield METRICS[metric].titled, values
    assert trial.folder, "a sealed trial lies somewhere"
    analysis = analyse(trial.folder)
    for name, spans in timers(analysis).items():
        yield f"timer: {name}, ms", spans
    bursts = trial.metrics.get("burst_completion_time_ms") or ()
    whole = [burst for burst in bursts if not burst["affected"] and burst["completion_time_ms"] is not None]
    yield "other bursts' completion time, ms", {burst["burst"]: burst["completion_time_ms"] for burst in whole}
    for number, path in enumerate(analysis.inputs.paths):
        transit_ns = median_transit_ns(analysis.packets, number)
        if transit_ns is not None:
            yield f"machine: transit over {path}, ms", {"median": transit_ns / NS_PER_MS}
    plan, guest = analysis.inputs.plan, analysis.inputs.guest
    pairs = zip(plan["events"], guest["events"], strict=True)
    late = [done["at_ns"] - guest["flow_start_ns"] - asked["at_ns"] for asked, done in pairs]
    yield "machine: events late by, ms", {number: late_ns / NS_PER_MS for number, late_ns in enumerate(late)}
