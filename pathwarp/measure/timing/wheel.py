# SPDX-License-Identifier: Apache-2.0
"""The kernel's timer wheel (kernel/time/timer.c): a timer never fires early, and the further away, the coarser."""

HZ = 1000
JIFFY_NS = 1_000_000_000 // HZ
# The kernel's counter starts five minutes before it wraps around.
_INITIAL_JIFFIES = (-300 * HZ) % 2**32
_LEVEL_BITS, _LEVEL_SLOTS = 3, 64


def to_jiffies(microseconds: int) -> int:
    """A duration in jiffies, rounded up."""
    return -(-microseconds * HZ // 1_000_000)


def fires_at(armed_ns: int, jiffies: int, boot_ns: int) -> int:
    """When a timer fires that was set `jiffies` ahead at `armed_ns`; epoch ns, `boot_ns` is the start of the clock.

    Up to 62 jiffies ahead that is the jiffy behind, up to 503 the next whole 8 of them, up to 4031 the next whole 64.
    """
    expires = _INITIAL_JIFFIES + (armed_ns - boot_ns) // JIFFY_NS + jiffies
    level = 0
    while jiffies >= (_LEVEL_SLOTS - 1) << level * _LEVEL_BITS:
        level += 1
    grain = level * _LEVEL_BITS
    return boot_ns + (((expires >> grain) + 1 << grain) - _INITIAL_JIFFIES) * JIFFY_NS
