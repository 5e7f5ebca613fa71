# SPDX-License-Identifier: Apache-2.0
"""Draw the traces of a drive past a cell.

A trace begins when the vehicle has an address in the cell and ends when it loses the link: that is the last line, and
its loss of 100 % says that nothing gets through any more. The same file gives the same bytes on every machine, as far
as `pathwarp.base.shares` holds and the C library's functions agree to far better than what values are rounded to.
"""

import math

from pathwarp.base.shares import shares
from pathwarp.generate.mobility.drive import Journey, Pass, normal, passes
from pathwarp.generate.mobility.link import quality
from pathwarp.model.links.own import write_own
from pathwarp.model.schema.mobility import Mobility

SHADOWING_STREAM = 2


def generate(mobility: Mobility) -> list[str]:
    """The text of the trace file of each lap."""
    journey = Journey(mobility, mobility.laps.count * mobility.drive.circuit_m)
    return [_trace(mobility, journey, one) for one in passes(mobility, journey)]


def _trace(mobility: Mobility, journey: Journey, one: Pass) -> str:
    middle_m = (one.lap - 0.5) * mobility.drive.circuit_m
    step_s = mobility.step_ns / 1e9
    instants_s = [one.joined_s + number * step_s for number in range(math.ceil((one.left_s - one.joined_s) / step_s))]
    places_m = [journey.at(instant_s) - middle_m for instant_s in instants_s]
    seen = [quality(mobility.link, level_dbm) for level_dbm in levels_dbm(mobility, one.lap, places_m)]
    end_s = one.left_s - one.joined_s
    while len(seen) > 1 and seen[-1].loss_fraction >= mobility.cell.gone_fraction:
        seen.pop()
        end_s = len(seen) * step_s
    seen.append(seen[-1]._replace(loss_fraction=1.0))
    return write_own([_line(min(number * step_s, end_s), *link) for number, link in enumerate(seen)])


def levels_dbm(mobility: Mobility, lap: int, places_m: list[float]) -> list[float]:
    """The level at each place, in m from the middle of the cell."""
    radio = mobility.radio
    chance = shares(mobility.laps.seed, lap, SHADOWING_STREAM)
    levels, before_m, shadowing = [], None, 0.0
    for place_m in places_m:
        memory = 0.0 if before_m is None else math.exp(-(place_m - before_m) / radio.memory_m)
        shadowing = memory * shadowing + math.sqrt(1 - memory**2) * normal(next(chance))
        distance_m = math.hypot(place_m, mobility.cell.beside_m)
        mean_dbm = radio.radiated_dbm - radio.first_metre_db - 10 * radio.exponent * math.log10(distance_m)
        levels.append(mean_dbm + radio.shadowing_db * shadowing)
        before_m = place_m
    return levels


def _line(instant_s: float, rate_bit_s: float, delay_s: float, loss_fraction: float) -> tuple[str, str, str, str]:
    return f"{1e3 * instant_s:.3f}", f"{rate_bit_s / 1e3:.0f}", f"{1e3 * delay_s:.3f}", f"{100 * loss_fraction:.4f}"
