# SPDX-License-Identifier: Apache-2.0
"""The metrics: all that is to be known of each number of `metrics.json` that tables and figures are made of.

Adding one takes an entry here, and a line in `pathwarp/measure/` that puts the number into `metrics.json`
(docs/reference/metrics.md, "A metric more").
"""

from dataclasses import dataclass
from enum import Flag, auto


class Scope(Flag):
    """What a metric is a number of: the whole trial, each loss event, or both."""

    TRIAL = auto()
    EVENT = auto()
    BOTH = TRIAL | EVENT


@dataclass(frozen=True)
class Metric:
    """A number of `metrics.json`; its definition is in docs/reference/metrics.md.

    `unit` is how the unit is printed. `absent` says why a trial, or a loss event, may have no such number; empty for
    one that is always there. `bursts`: only traffic in bursts has it. `median`: the trial's number is the median over
    those of its loss events that have one.
    """

    key: str
    words: str
    unit: str
    decimals: int
    scope: Scope
    absent: str = ""
    bursts: bool = False
    median: bool = False

    @property
    def titled(self) -> str:
        """Words and unit: "affected burst completion time, ms"."""
        return f"{self.words}, {self.unit}"


_MISSED, _NOTHING = "the failure met no burst", "the failure took nothing"

_ALL = (
    Metric(
        "affected_burst_completion_time_ms",
        words="affected burst completion time",
        unit="ms",
        decimals=1,
        scope=Scope.TRIAL,
        absent=_MISSED,
        bursts=True,
    ),
    Metric(
        "loss_position_fraction",
        words="loss position",
        unit="of 1",
        decimals=3,
        scope=Scope.TRIAL,
        absent=_MISSED,
        bursts=True,
    ),
    Metric(
        "delay_increase_ms",
        words="delay increase",
        unit="ms",
        decimals=1,
        scope=Scope.BOTH,
        absent=_NOTHING,
        median=True,
    ),
    Metric(
        "max_interarrival_gap_ms",
        words="max interarrival gap",
        unit="ms",
        decimals=1,
        scope=Scope.BOTH,
        absent=_NOTHING,
        median=True,
    ),
    Metric(
        "reinjection_rate",
        words="reinjection rate",
        unit="of 1",
        decimals=4,
        scope=Scope.BOTH,
        absent="no second subflow had joined",
    ),
    Metric("reinjected_packets", words="reinjected packets", unit="packets", decimals=1, scope=Scope.BOTH),
    Metric("reinjected_bytes", words="reinjected bytes", unit="B", decimals=0, scope=Scope.TRIAL),
    Metric("goodput_mbps", words="goodput", unit="Mbit/s", decimals=2, scope=Scope.TRIAL, absent="nothing was read"),
    Metric(
        "time_to_first_reinjection_ms",
        words="time to first reinjection",
        unit="ms",
        decimals=1,
        scope=Scope.BOTH,
        absent="nothing was reinjected on another path",
        median=True,
    ),
    Metric(
        "spurious_reinjected_packets", words="spurious reinjected packets", unit="packets", decimals=1, scope=Scope.BOTH
    ),
    Metric("spurious_reinjected_bytes", words="spurious reinjected bytes", unit="B", decimals=0, scope=Scope.TRIAL),
    Metric("recovery_ms", words="recovery", unit="ms", decimals=1, scope=Scope.EVENT, absent=_NOTHING),
    Metric("lost_packets", words="lost packets", unit="packets", decimals=1, scope=Scope.EVENT),
    Metric("packets", words="packets of the period", unit="packets", decimals=1, scope=Scope.EVENT),
    Metric(
        "path_share_fraction",
        words="path share",
        unit="of 1",
        decimals=3,
        scope=Scope.EVENT,
        absent="nothing was sent in the second before the failure",
    ),
    Metric(
        "removal_after_ms",
        words="removal after",
        unit="ms",
        decimals=1,
        scope=Scope.EVENT,
        absent="the path's address was not removed before the next failure",
    ),
    Metric(
        "rejoined_after_ms",
        words="rejoined after",
        unit="ms",
        decimals=1,
        scope=Scope.EVENT,
        absent="nothing joined again before the next failure",
    ),
)
METRICS = {metric.key: metric for metric in _ALL}

# What a variant's timers let one predict.
PREDICTED = "affected_burst_completion_time_ms"

# Those that a scenario may name: its headline is a number of each trial.
OF_TRIALS = tuple(key for key, metric in METRICS.items() if Scope.TRIAL in metric.scope)
OF_EVENTS = tuple(key for key, metric in METRICS.items() if Scope.EVENT in metric.scope)
# Of these the trial's number is the median over its loss events.
MEDIANS = tuple(key for key, metric in METRICS.items() if metric.median)
