# SPDX-License-Identifier: Apache-2.0
"""Numbers with units, as the data files write them: `20 Mbit/s`, `12 ms`, `1 %`, `400 B`, `200 packets`.

The arithmetic is exact (Decimal), so `0.1 ms` is 100000 ns and not a float next to it. Every function takes the text
of one value and raises ValueError, which names the valid units, for anything it does not understand.
"""

import re
from dataclasses import dataclass
from decimal import Decimal

from pathwarp.base.complaints import BadValue

NS_PER_MS, NS_PER_S = 1_000_000, 1_000_000_000

# 24 digits and the multiples below stay within the 28 digits that Decimal keeps.
NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?P<number>[0-9]{1,12}(?:\.[0-9]{1,12})?)\s*(?P<unit>(?![0-9.]).*)", re.ASCII | re.DOTALL
)


@dataclass(frozen=True)
class Dimension:
    """What a value measures: its units as multiples of the smallest one, and a good example for messages.

    Only what is `signed` can be negative.
    """

    name: str
    example: str
    smallest: str
    units: dict[str, Decimal]
    signed: bool = False

    def parse(self, text: object) -> Decimal:
        """Return `text` in the smallest unit; ValueError for what is no valid number with one of the units."""
        valid, hint = ", ".join(self.units), f"write it like {self.example}"
        scalar = isinstance(text, str | int | float) and not isinstance(text, bool)
        match = NUMBER.fullmatch(str(text).strip()) if scalar else None
        if not match:
            raise BadValue(f"is not a {self.name}", f"a number and one of {valid}", hint)
        unit = match["unit"].strip()
        if not unit:
            raise BadValue("has no unit", valid, hint)
        if unit not in self.units:
            raise BadValue(f"has the unknown unit {unit[:40]!r}", valid, hint)
        if match["sign"] == "-" and not self.signed:
            raise BadValue("is negative", f"a {self.name} of 0 or more", hint)
        return Decimal(match["sign"] + match["number"]) * self.units[unit]

    def parse_whole(self, text: object) -> int:
        """Return `text` as a whole number of the smallest unit; ValueError when it is finer than that."""
        value = self.parse(text)
        if value != value.to_integral_value():
            raise BadValue(f"is finer than 1 {self.smallest}", f"multiples of 1 {self.smallest}")
        return int(value)


def units_of(**multiples: str) -> dict[str, Decimal]:
    return {unit: Decimal(multiple) for unit, multiple in multiples.items()}


DURATION = Dimension("duration", "12 ms", "ns", units_of(ns="1", us="1e3", ms="1e6", s="1e9", min="60e9", h="3600e9"))
SIZE = Dimension("size", "400 B", "B", units_of(B="1", kB="1e3", MB="1e6", GB="1e9", KiB="1024", MiB="1048576"))
RATE = Dimension(
    "rate", "20 Mbit/s", "bit/s", units_of(**{"bit/s": "1", "kbit/s": "1e3", "Mbit/s": "1e6", "Gbit/s": "1e9"})
)
FRACTION = Dimension("percentage", "1 %", "%", {"%": Decimal(1)})
PACKETS = Dimension("number of packets", "200 packets", "packet", units_of(packets="1", packet="1"))
PACKET_RATE = Dimension(
    "rate of packets", "1800 packets/s", "packet/s", units_of(**{"packets/s": "1", "packet/s": "1"})
)
LENGTH = Dimension("length", "200 m", "m", units_of(m="1", km="1000"))
SPEED = Dimension("speed", "30 km/h", "km/h", units_of(**{"km/h": "1"}))
LEVEL = Dimension("level", "-82 dBm", "dBm", units_of(dBm="1"), signed=True)
RATIO = Dimension("ratio", "4 dB", "dB", units_of(dB="1"))


def parse_duration_ns(text: object) -> int:
    """`12 ms` -> 12000000."""
    return DURATION.parse_whole(text)


def parse_duration_s(text: object) -> float:
    """`12 ms` -> 0.012, the float nearest to a whole number of nanoseconds."""
    return parse_duration_ns(text) / 1e9


def parse_size_bytes(text: object) -> int:
    """`1.5 MB` -> 1500000; kB, MB, GB are powers of 1000, KiB and MiB of 1024."""
    return SIZE.parse_whole(text)


def parse_rate_bit_s(text: object) -> int:
    """`20 Mbit/s` -> 20000000."""
    return RATE.parse_whole(text)


def parse_fraction(text: object) -> float:
    """`1 %` -> 0.01; from 0 % to 100 %."""
    percent = FRACTION.parse(text)
    if percent > 100:
        raise BadValue("is more than 100 %", "0 % to 100 %")
    return float(percent / 100)


def parse_packets(text: object) -> int:
    """`200 packets` -> 200."""
    return PACKETS.parse_whole(text)


def parse_packet_rate_s(text: object) -> int:
    """`1800 packets/s` -> 1800."""
    return PACKET_RATE.parse_whole(text)


def parse_mean_packets(text: object) -> float:
    """`2.5 packets` -> 2.5, for a mean, which need not be whole."""
    return float(PACKETS.parse(text))


def parse_length_m(text: object) -> float:
    """`2 km` -> 2000.0."""
    return float(LENGTH.parse(text))


def parse_speed_km_h(text: object) -> float:
    """`30 km/h` -> 30.0."""
    return float(SPEED.parse(text))


def parse_level_dbm(text: object) -> float:
    """`-82 dBm` -> -82.0."""
    return float(LEVEL.parse(text))


def parse_ratio_db(text: object) -> float:
    """`4 dB` -> 4.0."""
    return float(RATIO.parse(text))
