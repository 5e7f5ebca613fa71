# SPDX-License-Identifier: Apache-2.0
"""Mahimahi's trace files of links."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathwarp.base.complaints import Complaints
from pathwarp.model.links.mahimahi import LONGEST_MS, OPPORTUNITY_BYTES, read_mahimahi

MS = 1_000_000


def steps(instants_ms: list[int], bin_ms: int, duration_ms: int) -> list[tuple[int, int | None, int | None]]:
    """Start in ms, rate in bit/s, hold in ms of each step."""
    lines = [str(instant) for instant in instants_ms]
    course = read_mahimahi(lines, "x.down", bin_ms * MS, duration_ms * MS)
    assert course.end_ns is None
    found = [step for step in course.steps if step.at_ns < duration_ms * MS]
    return [(one.at_ns // MS, one.rate_bit_s, one.hold_ns and one.hold_ns // MS) for one in found]


def test_the_rate_is_that_of_the_bin():
    assert steps([0, 10, 10, 99, 150, 200], 100, 200) == [(0, 480_000, None), (100, 120_000, None)]


def test_the_file_starts_over_with_its_last_instant():
    # Opportunities at 5, 10 and 15, 20 and so on: the end of a round is the zero of the next.
    assert steps([5, 10], 10, 1000) == [(0, 1_200_000, None), (10, 2_400_000, None)]
    # 0 and 40, then 40 again: two in the bin from 40 on.
    assert steps([0, 40], 20, 80) == [(0, 600_000, None), (20, None, 20), (40, 1_200_000, None), (60, None, 20)]


def test_bins_without_opportunities_hold_packets_until_the_next_one():
    assert steps([0, 400], 100, 300) == [(0, 120_000, None), (100, None, 300)]
    assert steps([450], 100, 300) == [(0, None, 400)], "the end of the trial does not matter"


def test_long_holds_are_parts_of_equal_length():
    ((start, rate, hold), *_) = steps([12_000], 1000, 5000)
    assert (start, rate, hold) == (0, None, 4000)
    assert hold <= LONGEST_MS


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=40), st.integers(1, 400))
def test_as_much_gets_through_as_in_the_file(instants, bin_ms):
    instants = sorted([*instants, 3000])
    bins = -(-3000 // bin_ms)
    found = steps(instants, bin_ms, bins * bin_ms)
    ends = [start for start, *_ in found[1:]] + [bins * bin_ms]
    sent = sum(
        (rate or 0) * (end - start) / 1000 / 8 / OPPORTUNITY_BYTES
        for (start, rate, _), end in zip(found, ends, strict=True)
    )
    there = sum(instant < bins * bin_ms for instant in instants)
    again = sum(3000 + instant < bins * bin_ms for instant in instants)
    assert sent == pytest.approx(there + again, abs=0.02 * len(found) + 0.01)


@pytest.mark.parametrize(
    ("lines", "where", "what"),
    [
        (["5", "4"], "x.down:2", "is 4, after 5 above"),
        (["5", ""], "x.down:2", "is ''"),
        (["5 "], "x.down:1", "is '5 '"),
        (["-5"], "x.down:1", "is '-5'"),
        (["1.5"], "x.down:1", "is '1.5'"),
        (["0", "0"], "x.down", "never comes to 1 ms or more"),
        ([], "x.down", "never comes to 1 ms or more"),
    ],
)
def test_wrong_files(lines, where, what):
    with pytest.raises(Complaints) as caught:
        read_mahimahi(lines, "x.down", 100 * MS, 1000 * MS)
    (complaint,) = caught.value.complaints
    assert (complaint.where, complaint.what) == (where, what)
