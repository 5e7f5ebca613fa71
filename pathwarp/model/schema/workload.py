# SPDX-License-Identifier: Apache-2.0
"""Models of a workload, `traffic/NAME.yaml`, by its `kind`: bursts, a constant rate, or load that D-ITG draws."""

from fractions import Fraction
from math import ceil
from typing import Annotated, ClassVar, Generic, Literal, NamedTuple, Self, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from pathwarp.base.complaints import BadValue
from pathwarp.base.units import PACKET_RATE, RATE, parse_duration_ns, parse_packet_rate_s, parse_rate_bit_s
from pathwarp.model.schema.common import DurationNs, Line, Name, Part, SizeBytes, between

# What D-ITG 2.8.1 sends over TCP: its header inside the payload takes 24 bytes, its buffer holds 64000.
SMALLEST_SEND_BYTES = 24
LARGEST_SEND_BYTES = 64_000

# Their files are numbered with two digits.
MOST_TRACES = 99

MOST_PACKETS_S, MOST_BITS_S = 1_000_000, 100_000_000_000

Quantity = TypeVar("Quantity", bound=int)


class Constant(Part, Generic[Quantity]):
    """The same value every time."""

    kind: Literal["constant"]
    value: Quantity


class Bounded(Part, Generic[Quantity]):
    """Base of the distributions whose values lie from `min` to `max`."""

    min: Quantity
    max: Quantity

    @model_validator(mode="after")
    def check_order(self) -> Self:
        if self.min >= self.max:
            raise BadValue("has a min that is not below its max", hint="for a single value write kind: constant")
        for centre in {"mean", "median"} & set(type(self).model_fields):
            if not self.min <= getattr(self, centre) <= self.max:
                raise BadValue(f"has a {centre} that is not from min to max")
        return self


class Uniform(Bounded[Quantity], Generic[Quantity]):
    """Every value from `min` to `max` is as likely as any other."""

    kind: Literal["uniform"]


class Exponential(Bounded[Quantity], Generic[Quantity]):
    """Exponential with this `mean`, of which the part from `min` to `max` is used."""

    kind: Literal["exponential"]
    mean: Quantity


class LogNormal(Bounded[Quantity], Generic[Quantity]):
    """Logarithm normal around log(`median`), standard deviation `spread`; the part from `min` to `max` is used."""

    kind: Literal["lognormal"]
    median: Quantity
    spread: Annotated[float, Field(gt=0, le=5)]


class Normal(Bounded[Quantity], Generic[Quantity]):
    """Normal with this `mean` and standard deviation `stddev`, of which the part from `min` to `max` is used."""

    kind: Literal["normal"]
    mean: Quantity
    stddev: Quantity


def at_least(least: int, text: str) -> AfterValidator:
    def check(distribution: Part) -> Part:
        if getattr(distribution, "min", getattr(distribution, "value", least)) < least:
            raise BadValue(f"has values below {text}", f"min (of a constant: value) of {text} or more")
        return distribution

    return AfterValidator(check)


GapNs = Annotated[DurationNs, Field(gt=0)]
BurstBytes = Annotated[SizeBytes, Field(gt=0, le=1_000_000_000)]

# Spelled out at the top level, since pydantic can only then pickle them, and trials go to worker processes.
GapKinds = Constant[GapNs] | Uniform[GapNs] | Exponential[GapNs] | LogNormal[GapNs] | Normal[GapNs]
SizeKinds = (
    Constant[BurstBytes] | Uniform[BurstBytes] | Exponential[BurstBytes] | LogNormal[BurstBytes] | Normal[BurstBytes]
)
Gap = Annotated[GapKinds, Field(discriminator="kind"), at_least(1_000_000, "1 ms")]
Size = Annotated[SizeKinds, Field(discriminator="kind"), at_least(SMALLEST_SEND_BYTES, f"{SMALLEST_SEND_BYTES} B")]


class Traces(Part):
    """The files `traces/NAME/01.csv` up to `count`, drawn from `seed`, or recorded where that is missing."""

    count: Annotated[int, Field(strict=True, ge=1, le=MOST_TRACES)]
    duration_ns: Annotated[DurationNs, Field(alias="duration", ge=1_000_000_000)]
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**32)] | None = None


class Rate(NamedTuple):
    """How much is sent in a second: packets, or bits of payload."""

    per_s: int
    unit: Literal["packets", "bits"]


def read_rate(value: object) -> Rate:
    """`1800 packets/s` or `78 Mbit/s`."""
    in_packets = isinstance(value, str) and value.strip().endswith(tuple(PACKET_RATE.units))
    try:
        rate = Rate(parse_packet_rate_s(value), "packets") if in_packets else Rate(parse_rate_bit_s(value), "bits")
    except BadValue as bad:
        raise BadValue(bad.what, ", ".join([*PACKET_RATE.units, *RATE.units]), bad.hint) from None
    if not 1 <= rate.per_s <= (MOST_PACKETS_S if in_packets else MOST_BITS_S):
        raise BadValue("is out of range", f"1 packets/s to {MOST_PACKETS_S} packets/s, or 1 bit/s to 100 Gbit/s")
    return rate


def packets_s(rate: Rate, packet_bytes: int) -> Fraction:
    """A rate in packets of one size a second."""
    return Fraction(rate.per_s, 1 if rate.unit == "packets" else 8 * packet_bytes)


class AnyWorkload(Part):
    """What all of them have; `packet_bytes` is the payload of one send call."""

    name: Name
    title: Line
    source: Line
    kind: str
    packet_bytes: Annotated[SizeBytes, Field(alias="packet", ge=2 * SMALLEST_SEND_BYTES, le=LARGEST_SEND_BYTES)]


class ConstantWorkload(AnyWorkload):
    """Packets of one size at one distance, for as long as the scenario lasts; the same for every seed."""

    kind: Literal["constant"]
    rate: Annotated[Rate, BeforeValidator(read_rate)]
    traces: ClassVar[None] = None
    generated: ClassVar[bool] = False

    @property
    def packets_s(self) -> Fraction:
        return packets_s(self.rate, self.packet_bytes)

    def packets(self, duration_ns: int) -> int:
        """How many packets leave before the end, the first at 0."""
        return ceil(self.packets_s * duration_ns / 1_000_000_000)


class LoadWorkload(AnyWorkload):
    """Base of what only background load sends: D-ITG draws it while it runs."""

    traces: ClassVar[None] = None
    generated: ClassVar[bool] = False


class ExponentialWorkload(LoadWorkload):
    """Packets of one size, with exponential times between them: a Poisson stream of this mean rate."""

    kind: Literal["exponential"]
    rate: Annotated[Rate, BeforeValidator(read_rate)]


class Pareto(Part):
    """Times with P(longer than t) = (`shortest` / t) ^ `shape`."""

    shape: Annotated[float, Field(gt=1, le=10)]
    shortest_ns: Annotated[int, between(parse_duration_ns, "1 ms", "1 h"), Field(alias="shortest")]


class OnOffWorkload(LoadWorkload):
    """Packets of one size at one distance while it is on; how long it is on and off is Pareto."""

    kind: Literal["on-off"]
    rate: Annotated[Rate, BeforeValidator(read_rate)]
    on: Pareto
    off: Pareto


class GreedyWorkload(LoadWorkload):
    """As much as the transport takes."""

    kind: Literal["greedy"]


class BurstWorkload(AnyWorkload):
    """Traffic that comes in bursts.

    `gap_ns` runs from the start of a burst to the start of the next, `size_bytes` is a burst's payload.
    """

    kind: Literal["bursts"]
    traces: Traces
    gap_ns: Gap | None = Field(None, alias="gap")
    size_bytes: Size | None = Field(None, alias="size")

    @model_validator(mode="after")
    def check_origin(self) -> Self:
        parts = {"traces.seed": self.traces.seed, "gap": self.gap_ns, "size": self.size_bytes}
        missing = [name for name, part in parts.items() if part is None]
        if 0 < len(missing) < len(parts):
            hint = "generated traces need all of these, recorded ones none"
            raise BadValue(f"lacks {' and '.join(missing)}", ", ".join(parts), hint)
        return self

    @property
    def generated(self) -> bool:
        """Whether the traces come from the distributions; otherwise they were recorded."""
        return self.gap_ns is not None


# One application's traffic.
Workload = BurstWorkload | ConstantWorkload | ExponentialWorkload | OnOffWorkload | GreedyWorkload
# The kinds of workload by name.
WORKLOAD_KINDS: dict[str, type[Workload]] = {
    "bursts": BurstWorkload,
    "constant": ConstantWorkload,
    "exponential": ExponentialWorkload,
    "on-off": OnOffWorkload,
    "greedy": GreedyWorkload,
}
# Of load, and of what a scenario's own traffic can be.
LOAD_KINDS = ("constant", "exponential", "on-off", "greedy")
OWN_KINDS = ("bursts", "constant")
