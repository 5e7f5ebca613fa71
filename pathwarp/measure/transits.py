# SPDX-License-Identifier: Apache-2.0
"""How long packets are under way, from the sender's capture to the receiver's."""

from statistics import median_high

from pathwarp.measure.transports.packets import Packets


def median_transit_ns(packets: Packets, path: int) -> int | None:
    """Return the median time on a path, whole ns; None where the path delivered nothing.

    Of an even number of packets the upper of the middle two counts: a time that a packet took.
    """
    transits_ns = (packets.arrival_ns - packets.time_ns)[(packets.path == path) & packets.delivered]
    return median_high(transits_ns.tolist()) if len(transits_ns) else None
