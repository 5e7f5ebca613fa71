# SPDX-License-Identifier: Apache-2.0
"""What a link of the 802.11 family does at a level: the rate that its rate control takes, repetitions, losses."""

import math
from typing import NamedTuple

from pathwarp.model.schema.mobility import LinkLayer, PhyRate

# Of ten frames nine arrive at a rate's level, and one that far below: odds of 9 to 1 and 1 to 9.
_ODDS = 9


class Quality(NamedTuple):
    """What packets see: a rate, a delay, and the share that is lost."""

    rate_bit_s: float
    delay_s: float
    loss_fraction: float


def frame_loss(link: LinkLayer, rate: PhyRate, level_dbm: float) -> float:
    """The share of frames that don't arrive at a rate and level (logistic in dB, as receivers' curves about are)."""
    slope = math.log(_ODDS**2) / link.waterfall_db
    return 1 / (1 + _ODDS * math.exp(min(slope * (level_dbm - rate.level_dbm), 700.0)))


def quality(link: LinkLayer, level_dbm: float) -> Quality:
    """What the link does at a level, at the rate that gets most through: what a good rate control comes to."""
    return max((_at_rate(link, rate, level_dbm) for rate in link.rates), key=_throughput)


def _throughput(seen: Quality) -> float:
    return seen.rate_bit_s * (1 - seen.loss_fraction)


def _at_rate(link: LinkLayer, rate: PhyRate, level_dbm: float) -> Quality:
    """What the link does when its first tries are at a rate.

    A try is needed when all before it were lost; the mean number of tries and the air time of a bit are sums over them.
    """
    farthest = min(link.rates, key=lambda one: one.level_dbm)
    needed, tries, air_s = 1.0, 0.0, 0.0
    for one in [rate] * link.tries + [farthest] * link.last_tries:
        tries += needed
        air_s += needed / one.rate_bit_s
        needed *= frame_loss(link, one, level_dbm)
    return Quality(
        rate_bit_s=link.efficiency_fraction / air_s,
        delay_s=(link.delay_ns + (tries - 1) * link.retry_ns) / 1e9,
        loss_fraction=needed,
    )
