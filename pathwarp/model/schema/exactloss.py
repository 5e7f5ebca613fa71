# SPDX-License-Identifier: Apache-2.0
"""Model of a loss of exactly chosen packets, an entry of a scenario's `losses`."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from pathwarp.base.complaints import BadValue
from pathwarp.base.units import parse_fraction
from pathwarp.model.schema.common import Name, Part

# Copies are told apart up to this one; those behind it are like it.
MOST_COPIES = 32
MOST_PACKETS = 1_000_000
MOST_LOSSES = 64

_ENDS = {"first": 1, "last": -1}
_POSITIONS = "first, last, a whole number other than 0 (negative from the end), or a share such as 50 %"
_COPIES = f"first, all, or a list of whole numbers from 1 to {MOST_COPIES}"


def read_position(value: object) -> int | float:
    """`first`, `last` and whole numbers as int, 1 the first packet and -1 the last; a share as float, of 1."""
    if isinstance(value, str) and value in _ENDS:
        return _ENDS[value]
    if isinstance(value, int) and not isinstance(value, bool) and value != 0 and abs(value) <= MOST_PACKETS:
        return value
    if isinstance(value, str) and value.strip().endswith("%"):
        return parse_fraction(value)
    raise BadValue("is not a position", _POSITIONS)


def read_copies(value: object) -> int:
    """The copies that are lost as bits, the first one's lowest; that of MOST_COPIES is also for all behind it."""
    if value == "first":
        return 1
    if value == "all":
        return (1 << MOST_COPIES) - 1
    numbers: list[int] = value if isinstance(value, list) else []
    if not numbers or not all(type(number) is int and 1 <= number <= MOST_COPIES for number in numbers):
        raise BadValue("names no copies", _COPIES)
    return sum(1 << (number - 1) for number in set(numbers))


class ExactLoss(Part):
    """A packet that is lost, named by a byte of the stream that it holds, or acknowledges: on whichever path it comes.

    `position` is among the application's packets of the burst, numbered from 0 as in the metrics, or without `burst`
    among those of the flow: an int counts packets from either end, and means a packet's last byte; a float is a share
    of the bytes. `copies` says which transmissions of that byte are lost, as bits: counted on `path`, or without that
    on all paths together. Of acknowledgments (`what: ack`) those count that acknowledge the byte.

    With `of: link` the `position` counts, from 1, all packets with data (or acknowledgments) that the link of `path`
    carries, whoever sends them: that one is lost.
    """

    what: Literal["data", "ack"] = "data"
    of: Literal["flow", "link"] = "flow"
    burst: Annotated[int | None, Field(strict=True, ge=0, le=MOST_PACKETS)] = None
    position: Annotated[int | float, BeforeValidator(read_position)]
    path: Name | None = None
    copies: Annotated[int, BeforeValidator(read_copies)] = 1
