# SPDX-License-Identifier: Apache-2.0
"""Linux' estimate of a subflow's round trip, in the kernel's own arithmetic (tcp_rtt_estimator, __tcp_set_rto)."""

from dataclasses import dataclass

from pathwarp.measure.timing.wheel import to_jiffies


@dataclass
class Estimator:
    """SRTT, its mean deviation and the RTO; before the first sample all are 0. `least_us` is TCP's smallest RTO."""

    least_us: int = 200_000
    srtt_times_8: int = 0
    mean_times_4: int = 0
    _largest: int = 0
    _four_v: int = 0
    _round_ends: int = 0

    @property
    def srtt_us(self) -> int:
        return self.srtt_times_8 >> 3

    @property
    def rttvar_us(self) -> int:
        """RTTVAR of RFC 6298, which is the kernel's mean deviation; its `rttvar` has the smallest RTO in it."""
        return self.mean_times_4 >> 2

    @property
    def rto_jiffies(self) -> int:
        return to_jiffies(self.srtt_us + self._four_v)

    def pto_jiffies(self, in_flight: int) -> int:
        """PTO = min(RTO, 2 s + 200 ms for one packet in flight, or 2 ms for more) (tcp_schedule_loss_probe)."""
        extra_us = self.least_us if in_flight == 1 else 2_000
        return min(self.rto_jiffies, to_jiffies((self.srtt_times_8 >> 2) + extra_us))

    def sample(self, rtt_us: int, acked: int, sent: int) -> None:
        """Take in a round trip; `acked` and `sent` are the sequence numbers up to which the sender is by then."""
        if not self.srtt_times_8:
            self.srtt_times_8, self.mean_times_4 = max(rtt_us << 3, 1), rtt_us << 1
            self._four_v = self._largest = max(self.mean_times_4, self.least_us)
            self._round_ends = sent
            return
        error = rtt_us - (self.srtt_times_8 >> 3)
        self.srtt_times_8 = max(self.srtt_times_8 + error, 1)
        if error < 0:
            error = -error - (self.mean_times_4 >> 2)
            # A round trip that falls moves the deviation less.
            error = error >> 3 if error > 0 else error
        else:
            error -= self.mean_times_4 >> 2
        self.mean_times_4 += error
        if self.mean_times_4 > self._largest:
            self._largest = self.mean_times_4
            self._four_v = max(self._four_v, self._largest)
        if acked > self._round_ends:
            if self._largest < self._four_v:
                self._four_v -= (self._four_v - self._largest) >> 2
            self._round_ends, self._largest = sent, self.least_us
