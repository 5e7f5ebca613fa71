# SPDX-License-Identifier: Apache-2.0
"""Model of an experiment, `scenarios/NAME.yaml`.

What spans several keys or files (paths that exist, times in order) is checked in `pathwarp.model.rules`.
"""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from pathwarp.base.complaints import BadValue
from pathwarp.base.units import parse_duration_ns
from pathwarp.model.schema.common import Count, DurationNs, Line, Name, Packets, Part, RateBitS, Sysctls, between
from pathwarp.model.schema.topology import Loss, Shape

Failure = Literal["blackhole", "interface-down", "address-removed"]
Direction = Literal["down", "up", "both"]
# The kernel's own scheduler is called default; the others are the project's, and in every variant's kernel.
Scheduler = Literal["minrtt", "roundrobin", "default"]
# The numbers of metrics.json that there is one of per trial.
Metric = Literal[
    "affected_burst_completion_time_ms",
    "loss_position_fraction",
    "delay_increase_ms",
    "max_interarrival_gap_ms",
    "reinjection_rate",
    "reinjected_packets",
    "reinjected_bytes",
    "goodput_mbps",
    "time_to_first_reinjection_ms",
    "spurious_reinjected_packets",
]

# Of a scenario, repetitions included.
MOST_EVENTS = 1_000

# As an event's instant: the last line of the trace that its path follows.
TRACE_END = "trace-end"


def read_at(value: object) -> object:
    if value is None:
        raise BadValue("is not a duration", f"an instant such as 12 ms, or {TRACE_END}")
    return None if value == TRACE_END else value


class Paper(Part):
    """The publication that the experiment comes from; `published` are its medians, by metric and variant."""

    source: Name
    sections: Line | None = None
    figures: tuple[Annotated[int, Field(strict=True, ge=1)], ...] = ()
    published: Annotated[dict[Metric, dict[Name, Annotated[float, Field(ge=0)]]], Field(default_factory=dict)]


class Change(Part):
    """New values for some attributes of a path's shape."""

    rate_bit_s: Annotated[RateBitS | None, Field(alias="rate")] = None
    delay_ns: Annotated[DurationNs | None, Field(alias="delay")] = None
    queue_packets: Annotated[Packets | None, Field(alias="queue")] = None
    loss: Loss | None = None

    def apply(self, shape: Shape) -> Shape:
        """`shape` with the new values."""
        return shape.model_copy(update={name: value for name, value in self if value is not None})


class Repeat(Part):
    """How often an event happens, and how long after its beginning it begins again."""

    times: Annotated[int, Field(strict=True, ge=1, le=MOST_EVENTS)]
    every_ns: Annotated[DurationNs, Field(alias="every", gt=0)]


class Event(Part):
    """What happens to a path: it fails, or its shape changes, from `at` to `until` (or the end).

    Times run from the start of the flow. `into-burst` moves `at` to that long after the departure of the first burst
    at or after it. `announce-after` is how long the receiver takes to announce that its address is gone. `at_ns` is
    None for `trace-end`, the end of the trace that the path follows.
    """

    at_ns: Annotated[DurationNs | None, BeforeValidator(read_at), Field(alias="at")]
    path: Name
    fail: Failure | None = None
    change: Change | None = None
    direction: Direction = "both"
    until_ns: Annotated[DurationNs | None, Field(alias="until")] = None
    into_burst_ns: Annotated[DurationNs | None, Field(alias="into-burst")] = None
    announce_after_ns: Annotated[DurationNs | None, Field(alias="announce-after")] = None
    repeat: Repeat | None = None

    def repetitions(self, trace_end_ns: int | None) -> Iterator[tuple[int | None, int | None]]:
        """Each repetition's `at` and `until`; no `at` where that is the end of a trace and there is none."""
        times, every_ns = (self.repeat.times, self.repeat.every_ns) if self.repeat else (1, 0)
        at_ns = trace_end_ns if self.at_ns is None else self.at_ns
        for after_ns in (number * every_ns for number in range(times)):
            yield (
                None if at_ns is None else at_ns + after_ns,
                None if self.until_ns is None else self.until_ns + after_ns,
            )


class Scenario(Part):
    """One experiment; the order of `metrics` is that of the table, the first one its headline."""

    name: Name
    title: Line
    paper: Paper | None = None
    topology: Name
    traffic: Annotated[tuple[Name, ...], Field(min_length=1)]
    default_traffic: Annotated[tuple[Name, ...] | None, Field(alias="default-traffic", min_length=1)] = None
    variants: Annotated[tuple[Name, ...], Field(min_length=1)]
    baseline: Name
    runs: Count
    duration_ns: Annotated[int, between(parse_duration_ns, "1 s", "1 h"), Field(alias="duration")]
    scheduler: Scheduler
    preferred_path: Annotated[Name, Field(alias="preferred-path")]
    sysctls: Annotated[Sysctls, Field(default_factory=dict)]
    events: Annotated[tuple[Event, ...], Field(max_length=MOST_EVENTS)] = ()
    metrics: Annotated[tuple[Metric, ...], Field(min_length=1)]
    # Real time is for comparing with virtual time: nothing repeats in it.
    time: Literal["virtual", "real"] = "virtual"
