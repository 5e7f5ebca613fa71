# SPDX-License-Identifier: Apache-2.0
"""Delays and gaps from the receiver's log."""

import numpy as np
import pytest

from pathwarp.measure import delays
from pathwarp.measure.apps.messages import Messages

MS = 1_000_000


def log(*rows, size=1000):
    """Rows (tx ms, rx ms)."""
    tx, rx = (np.array(rows).reshape(-1, 2).T * MS).astype(np.int64)
    return Messages(np.arange(1, len(tx) + 1), np.full(len(tx), size), tx, rx)


def test_quantiles():
    found = delays.quantiles(log(*((i, i + 10 + i % 5) for i in range(101))))
    assert found["0"] == 10
    assert found["0.5"] == 12
    assert found["1"] == 14
    assert list(found) == ["0", "0.01", "0.05", "0.25", "0.5", "0.75", "0.95", "0.99", "1"]


def test_series_keeps_the_slowest_of_each_slice():
    count = delays.SERIES_POINTS * 10
    rows = [(i, i + 5 + (100 if i == 4007 else 0)) for i in range(count)]
    found = delays.series(log(*rows), 1000 * MS)
    assert len(found["time_s"]) == len(found["delay_ms"]) == delays.SERIES_POINTS
    assert max(found["delay_ms"]) == 105
    assert found["time_s"][found["delay_ms"].index(105)] == pytest.approx(3.007)
    assert found["time_s"] == sorted(found["time_s"])


def test_series_of_few_packets_has_them_all():
    assert delays.series(log((1, 2), (500, 507)), 0) == {"time_s": [0.001, 0.5], "delay_ms": [1, 7]}
    assert delays.series(log((1, 2)), 0) == {"time_s": [0.001], "delay_ms": [1]}


def test_increase_looks_from_a_second_before_the_failure_to_recovery():
    rows = log((0, 1), (1500, 1506), (2000, 2010), (2400, 2850), (2500, 2851), (2900, 4000))
    assert delays.increase_ms(rows, 2300 * MS, 2840 * MS) == 450 - 6
    assert delays.increase_ms(rows, 2300 * MS, 2950 * MS) == 1100 - 6


def test_increase_of_sparse_traffic_takes_the_last_packet_before():
    rows = log((0, 3), (5000, 5006), (9000, 9250))
    assert delays.increase_ms(rows, 8900 * MS, 9245 * MS) == 244


def test_largest_gap_around_the_failure():
    rows = log(*((t, t) for t in (0, 900, 1000, 1010, 1300, 1310, 3000)))
    assert delays.largest_gap_ms(rows, 1005 * MS, 1305 * MS) == 290
    assert delays.largest_gap_ms(rows, 1005 * MS, None) == 1690
    assert delays.largest_gap_ms(rows, 0, None) == 1690
    assert delays.largest_gap_ms(rows, 3000 * MS, None) is None


def test_goodput():
    assert delays.goodput_mbps(log((0, 5), (900, 1000), size=125_000)) == 2


def test_nothing_received():
    empty = log()
    assert delays.quantiles(empty) == {}
    assert delays.series(empty, 0) == {"time_s": [], "delay_ms": []}
    assert delays.increase_ms(empty, 0, 1) is None
    assert delays.largest_gap_ms(empty, 0, None) is None
    assert delays.goodput_mbps(empty) is None
