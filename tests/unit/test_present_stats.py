# SPDX-License-Identifier: Apache-2.0
"""Means and paired comparisons against SciPy and numbers worked out by hand."""

import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from pathwarp.present import stats

BASELINE = {1: 430.0, 2: 452.5, 3: 441.0, 4: 460.2, 5: 437.9}
VARIANT = {1: 228.0, 2: 240.1, 3: 221.7, 4: 251.9, 5: 230.0}


def test_mean_by_hand() -> None:
    # 1, 2, 3: standard error 1 / sqrt(3), t(2) = 4.302653
    estimate = stats.mean([1, 2, 3])
    assert estimate.value == 2
    assert estimate.low == pytest.approx(2 - 4.302653 / math.sqrt(3), abs=1e-6)
    assert estimate.high == pytest.approx(2 + 4.302653 / math.sqrt(3), abs=1e-6)


@given(st.lists(st.floats(0.1, 1e4), min_size=2, max_size=40))
def test_mean_agrees_with_scipy(values: list[float]) -> None:
    estimate = stats.mean(values)
    error = scipy_stats.sem(values)
    if error > 0:
        low, high = scipy_stats.t.interval(0.95, len(values) - 1, loc=estimate.value, scale=error)
        assert (estimate.low, estimate.high) == (pytest.approx(low, abs=1e-6), pytest.approx(high, abs=1e-6))


def test_the_median_lies_between_two_of_the_values() -> None:
    # With six values both ends are outside only if all six are on one side: 2 / 2^6 = 3.1 %; of five, 6.3 %.
    assert stats.median_of([1, 9, 3, 5, 4, 2]) == stats.Estimate(3.5, 1, 9)
    assert stats.median_of([5, 1, 3, 2, 4]) == stats.Estimate(3)
    assert stats.median_of(range(1, 21)) == stats.Estimate(10.5, 6, 15)
    assert stats.median_of([]) is None


def test_one_value_has_no_interval_and_none_no_mean() -> None:
    assert stats.mean([7.5]) == stats.Estimate(7.5, None, None)
    assert stats.mean([7.5]).bounds is None
    assert stats.mean([]) is None


def test_difference_is_that_of_the_paired_t_test() -> None:
    comparison = stats.compare(BASELINE, VARIANT)
    test = scipy_stats.ttest_rel(list(VARIANT.values()), list(BASELINE.values()))
    low, high = test.confidence_interval(0.95)
    assert comparison.pairs == 5
    assert comparison.difference.low == pytest.approx(low)
    assert comparison.difference.high == pytest.approx(high)


def test_ends_of_the_ratio_are_where_a_t_test_begins_to_tell() -> None:
    relative = stats.compare(BASELINE, VARIANT).relative
    means = sum(VARIANT.values()) / sum(BASELINE.values())
    assert relative.value == pytest.approx(means - 1)
    assert relative.low < relative.value < relative.high
    for end in (relative.low, relative.high):
        rest = [VARIANT[seed] - (end + 1) * BASELINE[seed] for seed in BASELINE]
        assert scipy_stats.ttest_1samp(rest, 0).pvalue == pytest.approx(0.05)


def test_pairs_that_never_completed_are_dropped_and_counted() -> None:
    baseline = {1: 400.0, 2: None, 3: 410.0, 4: None, 5: 420.0}
    variant = {1: 200.0, 2: 210.0, 3: None, 4: None, 6: 230.0}
    comparison = stats.compare(baseline, variant)
    assert (comparison.pairs, comparison.dropped) == (1, 3)
    assert comparison.difference == stats.Estimate(-200.0)
    assert comparison.relative == stats.Estimate(-0.5)


def test_nothing_to_compare() -> None:
    comparison = stats.compare({1: None}, {1: 3.0})
    assert comparison == stats.Comparison(0, 1, None, None)


def test_equal_ratios_have_an_interval_without_width() -> None:
    relative = stats.compare({1: 400.0, 2: 500.0, 3: 300.0}, {1: 200.0, 2: 250.0, 3: 150.0}).relative
    assert (relative.value, relative.low, relative.high) == (
        -0.5,
        pytest.approx(-0.5, abs=1e-6),
        pytest.approx(-0.5, abs=1e-6),
    )


def test_ratio_to_a_mean_near_zero_has_no_ends() -> None:
    near_zero = stats.compare({1: -10.0, 2: 11.0, 3: 0.5}, {1: 1.0, 2: 2.0, 3: 3.0})
    assert near_zero.relative is not None and near_zero.relative.bounds is None
    assert stats.compare({1: 0.0, 2: 0.0}, {1: 1.0, 2: 2.0}).relative is None


def test_modules_load_without_the_slow_packages() -> None:
    code = (
        "import sys, pathwarp.present.stats, pathwarp.present.table, pathwarp.present.style\n"
        "print([name for name in ('numpy', 'scipy', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
