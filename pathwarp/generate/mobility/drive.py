# SPDX-License-Identifier: Apache-2.0
"""Where the vehicle is when: one drive of many laps, each of which passes the cell once."""

import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

from pathwarp.base.shares import shares
from pathwarp.model.schema.mobility import Mobility

SPEED_STREAM = 1
_TICK_S = 1.0
_KM_H_PER_M_S = 3.6


@dataclass(frozen=True)
class Pass:
    """One pass of the cell, in s from the start of the drive: from having an address there to leaving the cell."""

    lap: int
    joined_s: float
    left_s: float


def normal(share: float) -> float:
    """The value below which a share of the standard normal distribution lies."""
    return NormalDist().inv_cdf(share)


class Journey:
    """The way driven, in m, second by second; `end_m` is where the drive ends."""

    def __init__(self, mobility: Mobility, end_m: float) -> None:
        self.way_m = [0.0]
        for speed in correlated(
            mobility.drive.speed_km_h,
            mobility.drive.variation_km_h,
            math.exp(-_TICK_S * 1e9 / mobility.drive.memory_ns),
            shares(mobility.laps.seed, SPEED_STREAM),
        ):
            self.way_m.append(self.way_m[-1] + speed / _KM_H_PER_M_S * _TICK_S)
            if self.way_m[-1] >= end_m:
                break

    def at(self, instant_s: float) -> float:
        """How far the vehicle has come."""
        tick = min(int(instant_s / _TICK_S), len(self.way_m) - 2)
        here, there = self.way_m[tick : tick + 2]
        return here + (there - here) * (instant_s / _TICK_S - tick)

    def when(self, way_m: float) -> float:
        """When it had come so far."""
        tick = min(bisect_right(self.way_m, way_m), len(self.way_m) - 1) - 1
        here, there = self.way_m[tick : tick + 2]
        return (tick + (way_m - here) / (there - here)) * _TICK_S


def correlated(mean: float, deviation: float, memory: float, chance: Iterator[float]) -> Iterator[float]:
    """Normal values, each correlated with the one before it by `memory` (a stationary AR(1) process)."""
    value = normal(next(chance))
    while True:
        yield mean + deviation * value
        value = memory * value + math.sqrt(1 - memory**2) * normal(next(chance))


def passes(mobility: Mobility, journey: Journey) -> list[Pass]:
    """All passes; in the middle of each lap is the middle of the cell."""
    found = []
    scan_s, join_s = mobility.cell.scan_ns / 1e9, mobility.cell.join_ns / 1e9
    for lap in range(mobility.laps.count):
        middle_m = (lap + 0.5) * mobility.drive.circuit_m
        entered_s, left_s = (journey.when(middle_m + side * mobility.cell.length_m / 2) for side in (-1, 1))
        joined_s = math.ceil(entered_s / scan_s) * scan_s + join_s
        found.append(Pass(lap + 1, joined_s, left_s))
    return found
