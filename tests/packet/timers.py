# SPDX-License-Identifier: Apache-2.0
"""When the kernel's timers fire, computed by themselves from the kernel's rules."""

from dataclasses import dataclass

HZ = 1000
JIFFY_NS = 1_000_000_000 // HZ
_INITIAL_JIFFIES = (-300 * HZ) % 2**32
_LEVEL_SHIFT = 3
_LEVEL_SIZE = 64


def fires_at(armed_ns: int, timeout_jiffies: int, boot_ns: int) -> int:
    """When a timer armed at `armed_ns` fires, in ns: on the timer wheel (kernel/time/timer.c, calc_wheel_index).

    Never early, and coarser the further away it is: up to 62 jiffies to the next jiffy, then on a grid of 8, then 64.
    """
    now = _INITIAL_JIFFIES + (armed_ns - boot_ns) // JIFFY_NS
    expires = now + timeout_jiffies
    level = 0
    while timeout_jiffies >= (_LEVEL_SIZE - 1) << (level * _LEVEL_SHIFT):
        level += 1
    shift = level * _LEVEL_SHIFT
    return boot_ns + (((expires >> shift) + 1 << shift) - _INITIAL_JIFFIES) * JIFFY_NS


def to_jiffies(microseconds: float) -> int:
    """Round up (usecs_to_jiffies)."""
    return -(-round(microseconds) // (1_000_000 // HZ))


@dataclass(frozen=True)
class Estimate:
    """A subflow's estimator as the kernel had it just before the failure: srtt and rttvar in µs, RTO in jiffies."""

    srtt_us: float
    rto_jiffies: int
    rttvar_us: float

    @classmethod
    def read(cls, subflow: dict) -> "Estimate":
        """From a line of `ss -ti`."""
        srtt_ms, rttvar_ms = map(float, subflow["info"]["rtt"].split("/"))
        return cls(1000 * srtt_ms, int(subflow["info"]["rto"]), 1000 * rttvar_ms)

    def rej_ns(self, k: int) -> int:
        """REJ = s + K v for a first packet (rejection21, Eq. 6), K v being 10 µs at least."""
        return round(1000 * (self.srtt_us + max(10, k * self.rttvar_us)))

    def pto_jiffies(self, packets: int) -> int:
        """PTO = min(RTO, 2 s + 200 ms for one packet in flight or 2 ms for more) (tcp_schedule_loss_probe)."""
        extra_us = 200_000 if packets == 1 else 2_000
        return min(self.rto_jiffies, to_jiffies(2 * self.srtt_us + extra_us))

    def expected_rto_jiffies(self, rounds: int) -> int:
        """RTO = s + max(200 ms, 4 v) after this many round trips of equal length (tcp_rtt_estimator, __tcp_set_rto).

        The first sample m sets 4 v to 2 m; while that is above the 200 ms that are Linux' minimum, each round takes
        a quarter off the difference. (ss shows the mean deviation in v's place, so v itself can't be read from there.)
        """
        four_v_us = max(200_000, 2 * round(self.srtt_us))
        for _ in range(rounds):
            four_v_us -= (four_v_us - 200_000) >> 2
        return to_jiffies(self.srtt_us + four_v_us)
