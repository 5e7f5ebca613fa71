# SPDX-License-Identifier: Apache-2.0
"""Means with Student-t intervals, and comparisons of trials in pairs."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import TypeVar

CONFIDENCE = 0.95

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval; `low` and `high` are None where the trials don't bound it (one trial)."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def bounds(self) -> tuple[float, float] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True)
class Comparison:
    """A variant against the baseline over `pairs` pairs of trials that both have a value.

    `dropped` counts the other pairs: a burst that never completes has no completion time. `difference` is variant minus
    baseline in the metric's unit; `relative` is the ratio of the means minus 1. Both are None without pairs, `relative`
    also where the baseline's mean is 0.
    """

    pairs: int
    dropped: int
    difference: Estimate | None
    relative: Estimate | None


def mean(values: Sequence[float]) -> Estimate | None:
    """Mean and 95 % Student-t interval; None of no values."""
    if not values:
        return None
    centre = fmean(values)
    if len(values) == 1:
        return Estimate(centre)
    half = _quantile(len(values)) * math.sqrt(_covariance(values, values) / len(values))
    return Estimate(centre, centre - half, centre + half)


def median_of(values: Sequence[float]) -> Estimate | None:
    """Median and its 95 % interval between two of the values themselves, whatever their distribution (the sign test's).

    Fewer than six values bound nothing. None of no values.
    """
    if not values:
        return None
    from scipy.special import bdtr

    ordered, n = sorted(values), len(values)
    # As many as may lie outside on either side: how many of n fall short of the true median is binomial.
    outside = max((k for k in range(1, n // 2 + 1) if 2 * bdtr(k - 1, n, 0.5) <= 1 - CONFIDENCE), default=0)
    ends = (ordered[outside - 1], ordered[n - outside]) if outside else (None, None)
    return Estimate(median(ordered), *ends)


def compare(baseline: Mapping[Key, float | None], variant: Mapping[Key, float | None]) -> Comparison:
    """Compare the trials that have the same key (trace and seed) on both sides; a trial without a partner is left out.

    The difference has the interval of the paired t test. The ratio of means has Fieller's interval for paired values
    (E. C. Fieller, "Some problems in interval estimation", J. R. Stat. Soc. B 16, 1954): exact where the t interval is,
    closed, no random numbers. Where the baseline's mean is itself not safely away from 0 the interval has no ends.
    """
    shared = [(baseline[key], variant[key]) for key in baseline if key in variant]
    full = [(before, after) for before, after in shared if before is not None and after is not None]
    before, after = [pair[0] for pair in full], [pair[1] for pair in full]
    difference = mean([b - a for a, b in full])
    return Comparison(len(full), len(shared) - len(full), difference, _relative(before, after))


def _relative(before: Sequence[float], after: Sequence[float]) -> Estimate | None:
    """mean(after) / mean(before) - 1 with Fieller's interval."""
    if not before or fmean(before) == 0:
        return None
    x, y, n = fmean(before), fmean(after), len(before)
    if n == 1:
        return Estimate(y / x - 1)
    # The ratios r inside the interval are those for which a t test doesn't tell mean(after - r before) from 0:
    # a r^2 - 2 b r + c <= 0.
    scale = _quantile(n) ** 2 / n
    a = x * x - scale * _covariance(before, before)
    b = x * y - scale * _covariance(before, after)
    c = y * y - scale * _covariance(after, after)
    if a <= 0:
        return Estimate(y / x - 1)
    # Below 0 only by rounding: all pairs have the same ratio.
    root = math.sqrt(max(b * b - a * c, 0.0))
    return Estimate(y / x - 1, (b - root) / a - 1, (b + root) / a - 1)


def _covariance(xs: Sequence[float], ys: Sequence[float]) -> float:
    x_mean, y_mean = fmean(xs), fmean(ys)
    return math.fsum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True)) / (len(xs) - 1)


def _quantile(n: int) -> float:
    """Two-sided Student-t quantile for n values."""
    from scipy.special import stdtrit  # the same number as scipy.stats.t.ppf, which takes a second to import

    return float(stdtrit(n - 1, (1 + CONFIDENCE) / 2))
