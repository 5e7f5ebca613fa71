# SPDX-License-Identifier: Apache-2.0
"""Draw a workload's traces from its distributions.

The same file gives the same bytes on every machine, as far as `pathwarp.base.shares` holds and the C library's log,
exp and erfc agree to far better than the microsecond and the byte that values are rounded to. Each value takes one
share, and gaps and sizes have streams of their own, so a new size distribution leaves all starts where they were.
"""

import math
from collections.abc import Callable, Iterator
from statistics import NormalDist
from typing import Any

from pathwarp.base.shares import shares
from pathwarp.model.schema.workload import BurstWorkload
from pathwarp.model.traces import Burst, Trace

GAP_STREAM, SIZE_STREAM = 1, 2
_UNIT = NormalDist()

# For each kind: the share of values below x, and the value below which lies the share p.
_SHAPES: dict[str, tuple[Callable[[Any, float], float], Callable[[Any, float], float]]] = {
    "uniform": (
        lambda d, x: (x - d.min) / (d.max - d.min),
        lambda d, p: d.min + p * (d.max - d.min),
    ),
    "exponential": (
        lambda d, x: -math.expm1(-x / d.mean),
        lambda d, p: -d.mean * math.log1p(-p),
    ),
    "lognormal": (
        lambda d, x: _UNIT.cdf(math.log(x / d.median) / d.spread),
        lambda d, p: d.median * math.exp(d.spread * _UNIT.inv_cdf(p)),
    ),
    "normal": (
        lambda d, x: _UNIT.cdf((x - d.mean) / d.stddev),
        lambda d, p: d.mean + d.stddev * _UNIT.inv_cdf(p),
    ),
}


def generate(workload: BurstWorkload, number: int) -> Trace:
    """Trace `number` (from 1) of a generated workload: the first burst at 0, the last one before the traces' end."""
    seed = workload.traces.seed
    assert seed is not None, "recorded traces are not generated"
    gaps = _draws(workload.gap_ns, shares(seed, number, GAP_STREAM))
    sizes = _draws(workload.size_bytes, shares(seed, number, SIZE_STREAM))
    bursts = []
    start_us, end_us = 0, workload.traces.duration_ns // 1000
    while start_us < end_us:
        bursts.append(Burst(start_us / 1000, round(next(sizes))))
        start_us += round(next(gaps) / 1000)
    return Trace(tuple(bursts))


def _draws(distribution: Any, shares: Iterator[float]) -> Iterator[float]:
    """Values of `distribution`, one for each share; restricting to min..max costs no second draw."""
    if distribution.kind == "constant":
        while True:
            yield distribution.value
    below, value = _SHAPES[distribution.kind]
    low, high = below(distribution, distribution.min), below(distribution, distribution.max)
    for share in shares:
        yield min(max(value(distribution, low + share * (high - low)), distribution.min), distribution.max)
