# SPDX-License-Identifier: Apache-2.0
"""Mahimahi's trace files of links: a line for each opportunity to deliver 1500 bytes, its instant in ms.

The file starts over when its last instant has come. The emulated link has no opportunities, it has a rate, so those of
each bin become the bin's rate. What leaves when can differ from Mahimahi by up to one bin, in both directions. No link
has a rate of 0: in bins without opportunities packets wait, but one gets through at their beginning.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from pathwarp.base.complaints import Complaint, Complaints, enough
from pathwarp.base.units import NS_PER_MS
from pathwarp.model.links.course import Course, Step

OPPORTUNITY_BYTES = 1500
INSTANT = re.compile(r"[0-9]{1,9}", re.ASCII)
# The kernel keeps rates in whole bytes a second: a longer time for one packet would not be exact.
LONGEST_MS = 5_000


def read_mahimahi(lines: Sequence[str], name: str, bin_ns: int, duration_ns: int) -> Course:
    """The course that a file's lines describe, for `duration_ns`; Complaints for all that is wrong, with its line."""
    complaints = _complaints(lines, name)
    if complaints:
        raise Complaints(complaints)
    opportunities = Counter(map(int, lines))
    return Course.of(_steps(opportunities, bin_ns // NS_PER_MS, -(-duration_ns // NS_PER_MS)))


def _complaints(lines: Sequence[str], name: str) -> list[Complaint]:
    last_ms, found = 0, list[Complaint]()
    for number, line in enumerate(lines, start=1):
        where = f"{name}:{number}"
        if enough(found, where, len(lines) - number + 1):
            break
        if not INSTANT.fullmatch(line):
            found.append(Complaint(where, f"is {line[:60]!r}", "an instant in whole ms, such as 1250"))
        elif int(line) < last_ms:
            found.append(Complaint(where, f"is {line}, after {last_ms} above", "instants that don't fall"))
        else:
            last_ms = int(line)
    if last_ms == 0 and not found:
        found.append(Complaint(name, "never comes to 1 ms or more", "at least one opportunity after 0 ms"))
    return found


def _steps(opportunities: Counter[int], bin_ms: int, duration_ms: int) -> Iterator[Step]:
    """A step for each bin, and one for all bins in a row that have no opportunities."""
    numbers: Counter[int] = Counter()
    period_ms = max(opportunities)
    # Beyond the end by what the last bin's wait for the next opportunity can take.
    for start_ms in range(0, duration_ms + 2 * period_ms + bin_ms, period_ms):
        for instant_ms, number in opportunities.items():
            numbers[(start_ms + instant_ms) // bin_ms] += number
    last = -1
    for place in sorted(numbers):
        if place > last + 1:
            yield Step((last + 1) * bin_ms * NS_PER_MS, hold_ns=_hold_ns((place - last - 1) * bin_ms))
        rate_bit_s = numbers[place] * OPPORTUNITY_BYTES * 8 * 1000 // bin_ms
        yield Step(place * bin_ms * NS_PER_MS, rate_bit_s)
        last = place
        if last * bin_ms >= duration_ms:
            return


def _hold_ns(gap_ms: int) -> int:
    """How long a packet may take in a gap: as long as the gap, or an even part of it that isn't too long."""
    return gap_ms * NS_PER_MS // -(-gap_ms // LONGEST_MS)
