# SPDX-License-Identifier: Apache-2.0
"""Model of what a topology says of the trace file that a link follows, by the file's `format`."""

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from pathwarp.base.complaints import BadValue
from pathwarp.base.units import parse_duration_ns
from pathwarp.model.schema.common import Part, between
from pathwarp.model.schema.workload import MOST_TRACES

# What the number of a trace, two digits, takes the place of.
NUMBER = "NN"

MS = 1_000_000
_STEP = r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}"


def check_file(text: str) -> str:
    # No step begins with a dot or a slash, so none leads out of the folder.
    if not re.fullmatch(rf"{_STEP}(/{_STEP}){{0,4}}", text):
        valid = "letters, digits, dots, dashes and slashes between them, such as street/NN.csv"
        raise BadValue("is not a file below topologies/traces", valid)
    return text


def check_whole_ms(duration_ns: int) -> int:
    if duration_ns % MS:
        raise BadValue("is finer than 1 ms", "whole milliseconds, as the file has")
    return duration_ns


class FileTrace(Part):
    """Base of the formats: `file` below `topologies/traces/`; with `count`, its `NN` is a number from 01 on."""

    format: str
    file: Annotated[str, AfterValidator(check_file)]
    count: Annotated[int, Field(strict=True, ge=1, le=MOST_TRACES)] | None = None

    @model_validator(mode="after")
    def check_number(self) -> Self:
        if (self.count is not None) != (NUMBER in self.file):
            has, lacks = ("a count", NUMBER) if self.count else (NUMBER, "a count")
            raise BadValue(f"has {has}, but not {lacks}", f"both or neither: file: street/{NUMBER}.csv, count: 30")
        return self

    def name(self, seed: int) -> str:
        """The file that a seed follows; seed n has number (n - 1) mod count + 1."""
        return self.file.replace(NUMBER, f"{(seed - 1) % self.count + 1:02d}") if self.count else self.file

    def names(self) -> list[str]:
        """All files that there have to be."""
        return [self.name(seed) for seed in range(1, (self.count or 1) + 1)]


class CsvTrace(FileTrace):
    """The project's own format: rate, delay and loss, line by line."""

    format: Literal["csv"]


class MahimahiTrace(FileTrace):
    """Mahimahi's: instants, in ms, at which 1500 bytes may leave; they become a rate for each `bin`."""

    format: Literal["mahimahi"]
    bin_ns: Annotated[
        int, between(parse_duration_ns, "1 ms", "10 s"), AfterValidator(check_whole_ms), Field(alias="bin")
    ] = 100 * MS


LinkTrace = Annotated[CsvTrace | MahimahiTrace, Field(discriminator="format")]
