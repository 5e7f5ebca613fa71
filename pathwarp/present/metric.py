# SPDX-License-Identifier: Apache-2.0
"""How a key of metrics.json is written for people: its words, its unit, its decimals."""

from dataclasses import dataclass

# The suffix of a key is its unit: (suffix, unit as printed, decimals). The first that fits holds.
_UNITS = (
    ("_ms", "ms", 1),
    ("_s", "s", 2),
    ("_mbps", "Mbit/s", 2),
    ("_bytes", "B", 0),
    ("_packets", "packets", 1),
    ("_fraction", "of 1", 3),
    ("_rate", "of 1", 4),
)


@dataclass(frozen=True)
class Metric:
    """A scalar key of metrics.json. `unit` is empty for a plain number."""

    key: str
    words: str
    unit: str
    decimals: int

    @classmethod
    def of(cls, key: str) -> "Metric":
        suffix, unit, decimals = next((row for row in _UNITS if key.endswith(row[0])), ("", "", 2))
        # "_ms" is only a unit; "_rate" and "_packets" are also words of the name.
        words = key.removesuffix(suffix) if suffix in ("_ms", "_s", "_mbps", "_fraction") else key
        return cls(key, words.replace("_", " "), unit, decimals)

    @property
    def titled(self) -> str:
        """Words and unit: "affected burst completion time, ms"."""
        return f"{self.words}, {self.unit}" if self.unit else self.words

    def show(self, value: float, sign: bool = False) -> str:
        """The value with the metric's decimals; never "-0.0"."""
        return number(value, self.decimals, sign)


def number(value: float, decimals: int, sign: bool = False) -> str:
    """A value as text; zero has no sign."""
    rounded = round(value, decimals) + 0.0
    return f"{rounded:{'+' if sign and rounded else ''}.{decimals}f}"
