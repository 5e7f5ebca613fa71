# SPDX-License-Identifier: Apache-2.0
"""Mahimahi's trace files of links: a line for each opportunity to deliver 1500 bytes, its instant in ms.

The file starts over when its last instant has come. netem has no opportunities, it has a rate, so those of each bin
become the bin's rate. What leaves when can differ from Mahimahi by up to one bin, in both directions; besides, netem
works out a packet's departure when the packet arrives, so a packet that waits in the queue doesn't see a later rate.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from pathwarp.faults import Fault, Faults
from pathwarp.links.course import Course, Step

OPPORTUNITY_BYTES = 1500
INSTANT = re.compile(r"[0-9]{1,9}", re.ASCII)
NS_PER_MS = 1_000_000


def read_mahimahi(lines: Sequence[str], name: str, bin_ns: int, duration_ns: int) -> Course:
    """The course that a file's lines describe, for `duration_ns`; Faults for all that is wrong, each with its line."""
    faults = list(_faults(lines, name))
    if faults:
        raise Faults(faults)
    opportunities = Counter(map(int, lines))
    return Course.of(_steps(opportunities, bin_ns // NS_PER_MS, -(-duration_ns // NS_PER_MS)))


def _faults(lines: Sequence[str], name: str) -> Iterator[Fault]:
    last_ms = 0
    for number, line in enumerate(lines, start=1):
        if not INSTANT.fullmatch(line):
            yield Fault(f"{name}:{number}", f"is {line[:60]!r}", "an instant in whole ms, such as 1250")
        elif int(line) < last_ms:
            yield Fault(f"{name}:{number}", f"is {line}, after {last_ms} above", "instants that don't fall")
        else:
            last_ms = int(line)
    if last_ms == 0:
        yield Fault(name, "never comes to 1 ms or more", "at least one opportunity after 0 ms")


def _steps(opportunities: Counter[int], bin_ms: int, duration_ms: int) -> Iterator[Step]:
    """A step for each bin.

    One without opportunities drops nothing: it holds packets until the next bin that has some, and gives them that
    bin's rate. netem with a rate is first in, first out, so what arrives in that bin stays behind them.
    """
    rates: dict[int, int] = Counter()
    period_ms = max(opportunities)
    # Beyond the end by what the last bin's wait for the next opportunity can take.
    for start_ms in range(0, duration_ms + 2 * period_ms + bin_ms, period_ms):
        for instant_ms, number in opportunities.items():
            rates[(start_ms + instant_ms) // bin_ms] += number
    filled = sorted(rates)
    place = 0
    for number in range(-(-duration_ms // bin_ms)):
        place += filled[place] < number
        rate_bit_s = rates[filled[place]] * OPPORTUNITY_BYTES * 8 * 1000 // bin_ms
        hold_ns = (filled[place] - number) * bin_ms * NS_PER_MS
        yield Step(number * bin_ms * NS_PER_MS, rate_bit_s, hold_ns=hold_ns)
