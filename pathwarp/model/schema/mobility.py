# SPDX-License-Identifier: Apache-2.0
"""Model of drives past a radio cell, `topologies/mobility/NAME.yaml`; traces of the cell's link are made from it."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from pathwarp.base import units
from pathwarp.base.complaints import BadValue
from pathwarp.model.schema.common import DurationNs, Fraction, Line, Name, Part, RateBitS, between
from pathwarp.model.schema.workload import MOST_TRACES

Length = Annotated[float, between(units.parse_length_m, "1 m", "100 km")]
Speed = Annotated[float, between(units.parse_speed_km_h, "0 km/h", "300 km/h")]
Level = Annotated[float, between(units.parse_level_dbm, "-120 dBm", "60 dBm")]
Ratio = Annotated[float, between(units.parse_ratio_db, "0 dB", "200 dB")]
Second = Annotated[DurationNs, Field(ge=100_000_000, le=60_000_000_000)]


class Laps(Part):
    """How many laps are driven, a trace of each, and from which seed."""

    count: Annotated[int, Field(strict=True, ge=1, le=MOST_TRACES)]
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**32)]


class Drive(Part):
    """A vehicle on a circuit; its speed is normal around `speed`, and forgets what it was within `memory_ns`."""

    circuit_m: Annotated[Length, Field(alias="circuit")]
    speed_km_h: Annotated[Speed, Field(alias="speed", ge=1)]
    variation_km_h: Annotated[Speed, Field(alias="variation")]
    memory_ns: Annotated[Second, Field(alias="memory")]

    @model_validator(mode="after")
    def check_forward(self) -> Self:
        if self.variation_km_h > self.speed_km_h / 10:
            raise BadValue(
                "varies so much that the vehicle may turn round", "a variation of a tenth of the speed at most"
            )
        return self


class Cell(Part):
    """The part of the circuit in which there is a link, `length_m` long, its access point beside the middle.

    A vehicle without a link looks for one at each multiple of `scan_ns`; `join_ns` later it has an address. It loses
    the link when it leaves, or as soon as `gone_fraction` of the packets or more are lost until then.
    """

    length_m: Annotated[Length, Field(alias="length")]
    beside_m: Annotated[Length, Field(alias="beside")]
    scan_ns: Annotated[Second, Field(alias="scan")]
    join_ns: Annotated[DurationNs, Field(alias="join")]
    gone_fraction: Annotated[Fraction, Field(alias="gone", gt=0)]


class Radio(Part):
    """What arrives of what the access point radiates.

    The level is radiated - first metre - 10 exponent log10(distance in m) + shadowing. Shadowing is normal, and
    correlated over the way as exp(-way / `memory_m`).
    """

    radiated_dbm: Annotated[Level, Field(alias="radiated")]
    first_metre_db: Annotated[Ratio, Field(alias="first-metre")]
    exponent: Annotated[float, Field(ge=1, le=8)]
    shadowing_db: Annotated[Ratio, Field(alias="shadowing")]
    memory_m: Annotated[Length, Field(alias="memory")]


class PhyRate(Part):
    """A rate that frames can be sent at, and the least level at which nine of ten arrive."""

    rate_bit_s: Annotated[RateBitS, Field(alias="rate")]
    level_dbm: Annotated[Level, Field(alias="level")]


class LinkLayer(Part):
    """What the link makes of a level.

    `waterfall_db` below a rate's level nine of ten frames are lost. A frame is sent up to `tries` times at the rate
    that gets most through, then `last_tries` times at the one that reaches farthest. Each try after the first adds
    `retry_ns` to the way that takes `delay_ns`. `efficiency_fraction` of a rate is left for packets.
    """

    rates: Annotated[tuple[PhyRate, ...], Field(min_length=1, max_length=50)]
    waterfall_db: Annotated[Ratio, Field(alias="waterfall", ge=0.1)]
    tries: Annotated[int, Field(strict=True, ge=1, le=100)]
    last_tries: Annotated[int, Field(strict=True, ge=0, le=100, alias="last-tries")]
    retry_ns: Annotated[DurationNs, Field(alias="retry")]
    efficiency_fraction: Annotated[Fraction, Field(alias="efficiency", gt=0)]
    delay_ns: Annotated[DurationNs, Field(alias="delay")]


class Mobility(Part):
    """The link of a vehicle that passes a cell once a lap; a trace says each `step_ns` what the link does."""

    name: Name
    title: Line
    source: Line
    laps: Laps
    step_ns: Annotated[Second, Field(alias="step")]
    drive: Drive
    cell: Cell
    radio: Radio
    link: LinkLayer

    @model_validator(mode="after")
    def check_cell(self) -> Self:
        if self.cell.length_m >= self.drive.circuit_m:
            raise BadValue("has a cell that is as long as the circuit", "a cell.length below drive.circuit")
        return self
