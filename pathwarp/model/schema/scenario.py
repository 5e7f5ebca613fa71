# SPDX-License-Identifier: Apache-2.0
"""Model of an experiment, `scenarios/NAME.yaml`.

What spans several keys or files (paths that exist, times in order) is checked in `pathwarp.model.rules`.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, create_model

from pathwarp.base.complaints import BadValue
from pathwarp.base.units import parse_duration_ns
from pathwarp.model.catalogue import suggest
from pathwarp.model.events.kind import EventKind, Phase
from pathwarp.model.events.registry import EVENT_KINDS, FAILURES, options
from pathwarp.model.metrics import OF_TRIALS
from pathwarp.model.schema.common import Count, DurationNs, Line, Name, PacketCount, Part, RateBitS, Sysctls, between
from pathwarp.model.schema.exactloss import MOST_LOSSES, ExactLoss
from pathwarp.model.schema.flow import MOST_FLOWS, Flow
from pathwarp.model.schema.grid import MOST_AXES, Axis, check_grid
from pathwarp.model.schema.topology import Loss, Shape

Direction = Literal["down", "up", "both"]
# The kernel's own scheduler is called default; the others are the project's, and in every variant's kernel.
Scheduler = Literal["minrtt", "roundrobin", "preferred", "default"]
# Of a scenario, repetitions included.
MOST_EVENTS = 1_000

# The kind of an event that is no failure.
CHANGE = "change"

# As an event's instant: the last line of the trace that its path follows.
TRACE_END = "trace-end"


def check_metric(key: str) -> str:
    if key not in OF_TRIALS:
        raise BadValue("is unknown", ", ".join(OF_TRIALS), suggest(key, OF_TRIALS))
    return key


def read_at(value: object) -> object:
    if value is None:
        raise BadValue("is not a duration", f"an instant such as 12 ms, or {TRACE_END}")
    return None if value == TRACE_END else value


def read_failure(value: object) -> object:
    if isinstance(value, str) and value in FAILURES:
        return value
    raise BadValue("is unknown", ", ".join(FAILURES), suggest(value, list(FAILURES)) if isinstance(value, str) else "")


def read_switch(value: object) -> object:
    if not isinstance(value, bool):
        raise BadValue("is neither true nor false", "true, false")
    return value


MetricKey = Annotated[str, AfterValidator(check_metric)]


class Paper(Part):
    """The publication that the experiment comes from; `published` are its medians, by metric and variant."""

    source: Name
    sections: Line | None = None
    figures: tuple[Annotated[int, Field(strict=True, ge=1)], ...] = ()
    published: Annotated[dict[MetricKey, dict[Name, Annotated[float, Field(ge=0)]]], Field(default_factory=dict)]


class Change(Part):
    """New values for some attributes of a path's shape."""

    rate_bit_s: Annotated[RateBitS | None, Field(alias="rate")] = None
    delay_ns: Annotated[DurationNs | None, Field(alias="delay")] = None
    queue_packets: Annotated[PacketCount | None, Field(alias="queue")] = None
    loss: Loss | None = None

    def apply(self, shape: Shape) -> Shape:
        """`shape` with the new values."""
        return shape.model_copy(update={name: value for name, value in self if value is not None})


class Repeat(Part):
    """How often an event happens, and how long after its beginning it begins again."""

    times: Annotated[int, Field(strict=True, ge=1, le=MOST_EVENTS)]
    every_ns: Annotated[DurationNs, Field(alias="every", gt=0)]


class AnyEvent(Part):
    """What happens to a path: it fails, or its shape changes, from `at` to `until` (or the end).

    Times run from the start of the flow. `into-burst` moves `at` to that long after the departure of the first burst
    at or after it. `at_ns` is None for `trace-end`, the end of the trace that the path follows.
    """

    at_ns: Annotated[DurationNs | None, BeforeValidator(read_at), Field(alias="at")]
    path: Name
    fail: Annotated[str | None, BeforeValidator(read_failure)] = None
    change: Change | None = None
    direction: Direction = "both"
    until_ns: Annotated[DurationNs | None, Field(alias="until")] = None
    into_burst_ns: Annotated[DurationNs | None, Field(alias="into-burst")] = None
    repeat: Repeat | None = None

    @property
    def kind(self) -> EventKind:
        return EVENT_KINDS[self.fail or CHANGE]

    def after_ns(self, phase: Phase) -> int:
        """How long after its beginning a phase of the event comes."""
        return getattr(self, phase.field) or 0

    def repetitions(self, trace_end_ns: int | None) -> Iterator[tuple[int | None, int | None]]:
        """Each repetition's `at` and `until`; no `at` where that is the end of a trace and there is none."""
        times, every_ns = (self.repeat.times, self.repeat.every_ns) if self.repeat else (1, 0)
        at_ns = trace_end_ns if self.at_ns is None else self.at_ns
        for after_ns in (number * every_ns for number in range(times)):
            yield (
                None if at_ns is None else at_ns + after_ns,
                None if self.until_ns is None else self.until_ns + after_ns,
            )


if TYPE_CHECKING:
    Event = AnyEvent
else:
    # The keys that only some kinds of event have are in the files of these.
    Event = create_model(
        "Event",
        __base__=AnyEvent,
        __module__=__name__,
        __doc__=AnyEvent.__doc__,
        **{
            phase.field: (Annotated[DurationNs | None, Field(alias=option)], None)
            for option, phase in options().items()
        },
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
    # None: nobody looks at single packets. An empty list has them looked at, and none lost.
    losses: Annotated[tuple[ExactLoss, ...], Field(max_length=MOST_LOSSES)] | None = None
    # None: one flow, from the topology's first host to its second.
    flows: Annotated[tuple[Flow, ...], Field(max_length=MOST_FLOWS)] | None = None
    metrics: Annotated[tuple[MetricKey, ...], Field(min_length=1)]
    # The trials are run at each point of it.
    grid: Annotated[
        dict[Name, Axis],
        AfterValidator(check_grid),
        Field(default_factory=dict, max_length=MOST_AXES),
    ]
    # Show what the formulas of the variants' timers give for the affected burst beside what was measured.
    predict: Annotated[bool, BeforeValidator(read_switch)] = False
    # Real time is for comparing with virtual time: nothing repeats in it.
    time: Literal["virtual", "real"] = "virtual"

    @property
    def primary(self) -> Flow | None:
        """The flow that the metrics are about, where the scenario lists flows."""
        return next((flow for flow in self.flows or () if flow.primary), None)

    @property
    def load(self) -> tuple[Flow, ...]:
        """All other flows."""
        return tuple(flow for flow in self.flows or () if not flow.primary)
