# SPDX-License-Identifier: Apache-2.0
"""The project's own trace files of links: CSV, a line for each instant at which something changes.

The header is `time_ms,rate_kbit_s,delay_ms,loss_percent`. The last line is the end of the trace: what it says holds on.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from pathwarp.base.complaints import Complaint, Complaints, enough
from pathwarp.model.links.course import Course, Step


class Column:
    """A column: its name, the decimals it may have, its range, how much of the smallest unit 1 is, an example."""

    def __init__(self, name: str, decimals: int, least: int, most: int, scale: int, example: str) -> None:
        self.name, self.least, self.most, self.scale = name, Decimal(least), Decimal(most), scale
        self.number = re.compile(rf"[0-9]{{1,12}}(\.[0-9]{{1,{decimals}}})?", re.ASCII)
        self.valid = f"{least} to {most}, with at most {decimals} decimals, such as {example}"

    def read(self, text: str) -> int | None:
        """The value in the smallest unit; None for what is no number in the range."""
        if not self.number.fullmatch(text) or not self.least <= Decimal(text) <= self.most:
            return None
        return int(Decimal(text) * self.scale)


# The ranges are those of the topology's own values. Smallest units: ns, bit/s, ns, a millionth of a percent.
COLUMNS = (
    Column("time_ms", 6, 0, 3_600_000, 1_000_000, "1000.000"),
    Column("rate_kbit_s", 3, 1, 100_000_000, 1_000, "6500"),
    Column("delay_ms", 6, 0, 3_600_000, 1_000_000, "20.125"),
    Column("loss_percent", 6, 0, 100, 1_000_000, "0.5"),
)
HEADER = ",".join(column.name for column in COLUMNS)
_WHOLE = 100 * COLUMNS[-1].scale


def read_own(lines: Sequence[str], name: str) -> Course:
    """The course that a file's lines describe; Complaints for all that is wrong, each with `name` and its line."""
    complaints: list[Complaint] = []
    steps: list[Step] = []
    if not lines or lines[0] != HEADER:
        complaints.append(Complaint(f"{name}:1", f"header is {(lines or [''])[0][:60]!r}", HEADER))
    last_ns = -1
    for number, line in enumerate(lines[1:], start=2):
        if enough(complaints, f"{name}:{number}", len(lines) - number + 1):
            break
        fields = line.split(",")
        values = [column.read(text) for column, text in zip(COLUMNS, fields, strict=False)]
        found = list(_line_complaints(fields, values, last_ns))
        complaints += [Complaint(f"{name}:{number}", complaint.what, complaint.valid) for complaint in found]
        last_ns = max(last_ns, -1 if values[0] is None else values[0])
        if not found:
            at_ns, rate_bit_s, delay_ns, loss = (value or 0 for value in values)
            steps.append(Step(at_ns, rate_bit_s, delay_ns, loss / _WHOLE))
    if not steps and not complaints:
        complaints.append(Complaint(name, "has no lines", "at least one line after the header"))
    if complaints:
        raise Complaints(complaints)
    return Course.of(steps, last_ns)


def write_own(steps: Sequence[tuple[str, str, str, str]]) -> str:
    """The text of a file with these lines, each value as it is to be written."""
    return "\n".join([HEADER, *(",".join(step) for step in steps)]) + "\n"


def _line_complaints(fields: list[str], values: list[int | None], last_ns: int) -> Iterator[Complaint]:
    """What is wrong with a line after one at `last_ns`."""
    if len(fields) != len(COLUMNS):
        yield Complaint("", f"has {len(fields)} fields", f"{len(COLUMNS)}: {HEADER}")
        return
    for column, text, value in zip(COLUMNS, fields, values, strict=True):
        if value is None:
            yield Complaint("", f"{column.name} is {text[:60]!r}", column.valid)
    if values[0] is not None and values[0] <= last_ns:
        yield Complaint("", f"time_ms is {fields[0]}, after {last_ns / 1e6:g} above", "instants in rising order")
