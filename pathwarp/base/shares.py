# SPDX-License-Identifier: Apache-2.0
"""Random numbers for everything that is generated before a trial.

numpy's PCG64 and SeedSequence keep their raw streams from version to version (NEP 19 promises that of bit generators,
not of Generator's methods, which is why none of those is called).
"""

from collections.abc import Iterator


def shares(*seed: int) -> Iterator[float]:
    """Evenly distributed numbers above 0 and below 1 from a stream that belongs to `seed`, one raw number for each."""
    from numpy.random import PCG64, SeedSequence

    bits = PCG64(SeedSequence(seed))
    while True:
        # 52 bits and a half: exact in a double, and neither 0 nor 1, where inverse distributions end.
        yield ((bits.random_raw() >> 12) + 0.5) / 2**52
