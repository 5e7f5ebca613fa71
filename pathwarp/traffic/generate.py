# SPDX-License-Identifier: Apache-2.0
"""Draw a workload's traces from its distributions.

The same file gives the same bytes on every machine, as far as these hold: numpy's PCG64 and SeedSequence keep their raw
streams from version to version (NEP 19 promises that of bit generators, not of Generator's methods, which is why none
of those is called), and the C library's log, exp and erfc agree to far better than the microsecond and the byte that
values are rounded to. Each value takes one raw 64-bit number, and gaps and sizes have streams of their own, so a new
size distribution leaves all starts where they were.
"""

import math
from collections.abc import Callable, Iterator
from statistics import NormalDist

from pathwarp.schema.workload import BurstWorkload
from pathwarp.traffic.trace import Burst, Trace

GAP_STREAM, SIZE_STREAM = 1, 2
_UNIT = NormalDist()

# For each kind: the share of values below x, and the value below which lies the share p.
_SHAPES: dict[str, tuple[Callable, Callable]] = {
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
    gaps = _draws(workload.gap_ns, _shares(workload.traces.seed, number, GAP_STREAM))
    sizes = _draws(workload.size_bytes, _shares(workload.traces.seed, number, SIZE_STREAM))
    bursts = []
    start_us, end_us = 0, workload.traces.duration_ns // 1000
    while start_us < end_us:
        bursts.append(Burst(start_us / 1000, round(next(sizes))))
        start_us += round(next(gaps) / 1000)
    return Trace(tuple(bursts))


def _shares(*seed: int) -> Iterator[float]:
    """Evenly distributed numbers above 0 and below 1 from a stream that belongs to `seed`."""
    from numpy.random import PCG64, SeedSequence

    bits = PCG64(SeedSequence(seed))
    while True:
        # 52 bits and a half: exact in a double, and neither 0 nor 1, where inverse distributions end.
        yield ((bits.random_raw() >> 12) + 0.5) / 2**52


def _draws(distribution, shares: Iterator[float]) -> Iterator[float]:
    """Values of `distribution`, one for each share; restricting to min..max costs no second draw."""
    if distribution.kind == "constant":
        while True:
            yield distribution.value
    below, value = _SHAPES[distribution.kind]
    low, high = below(distribution, distribution.min), below(distribution, distribution.max)
    for share in shares:
        yield min(max(value(distribution, low + share * (high - low)), distribution.min), distribution.max)
