# SPDX-License-Identifier: Apache-2.0
"""How long packets are under way."""

import numpy as np

from pathwarp.measure.transits import median_transit_ns
from pathwarp.measure.transports.packets import Packets


def packets(*rows: tuple[int, int | None]) -> Packets:
    """Packets of (path, ns under way or None), one each us."""
    time_ns = np.arange(len(rows), dtype=np.int64) * 1000
    path = np.array([path for path, _ in rows], np.int64)
    arrival_ns = np.array([-1 if ns is None else 1000 * i + ns for i, (_, ns) in enumerate(rows)], np.int64)
    return Packets(time_ns, path, path, path, path, path, arrival_ns, arrival_ns >= 0)


def test_the_median_is_a_time_that_a_packet_of_the_path_took() -> None:
    table = packets((0, 7), (0, 5), (1, 40), (0, None), (0, 100), (0, 6))
    assert median_transit_ns(table, 0) == 7
    assert median_transit_ns(table, 1) == 40


def test_a_path_that_delivered_nothing_has_none() -> None:
    assert median_transit_ns(packets((0, 7), (1, None)), 1) is None
