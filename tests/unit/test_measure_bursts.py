# SPDX-License-Identifier: Apache-2.0
"""Bursts: completion, losses, the one that met the failure."""

import numpy as np
import pytest

from pathwarp.base.complaints import Complaints
from pathwarp.measure import bursts
from pathwarp.measure.apps.messages import Messages
from pathwarp.measure.inputs import Failure, Inputs
from pathwarp.measure.transports import reinjections
from pathwarp.measure.transports.packets import LOST, Packets

MS = 1_000_000
PLAN = {"bursts": [[0.0, 3000], [1000.0, 400], [2000.0, 2800]], "packet_bytes": 1400, "paths": ["wlan", "4g"]}
PLANNED = bursts.lay_out(PLAN)
INPUTS = Inputs(None, PLAN, {})


def log(*rows):
    """Rows (number, size, tx ms, rx ms)."""
    seq, size, tx, rx = np.array(rows).reshape(-1, 4).T
    return Messages(seq.astype(int), size.astype(int), (tx * MS).astype(int), (rx * MS).astype(int))


WHOLE = log(
    (1, 1400, 0, 7),
    (2, 1400, 0, 50),
    (3, 200, 1, 9),
    (4, 400, 1000, 1006),
    (5, 1400, 2000, 2010),
    (6, 1400, 2000, 2016),
)


def test_layout():
    assert PLANNED.start_ms.tolist() == [0, 1000, 2000]
    assert PLANNED.packets.tolist() == [3, 1, 2]
    assert PLANNED.first_seq.tolist() == [1, 4, 5]
    assert PLANNED.offset.tolist() == [0, 3000, 3400]


def test_completion_goes_from_first_sending_to_last_reading():
    assert bursts.completion_ms(PLANNED, WHOLE) == [50, 6, 16]


def test_burst_that_lacks_packets_has_no_completion():
    some = log((1, 1400, 0, 7), (3, 200, 1, 9), (4, 400, 1000, 1006), (5, 1400, 2000, 2010))
    assert bursts.completion_ms(PLANNED, some) == [None, 6, None]
    assert bursts.completion_ms(PLANNED, log()) == [None] * 3


def test_traffic_without_bursts():
    none = bursts.lay_out({"bursts": [], "packet_bytes": 1400})
    bursts.require_planned(none, WHOLE, "log")
    assert bursts.completion_ms(none, WHOLE) == []


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ((6, 1399, 0, 1), "packet 6 has 1399 bytes, the plan 1400"),
        ((3, 1400, 0, 1), "packet 3 has 1400 bytes, the plan 200"),
        ((7, 1400, 0, 1), "packet 7 has 1400 bytes, the plan 0"),
    ],
)
def test_log_of_other_packets_is_named(row, what):
    bursts.require_planned(PLANNED, WHOLE, "x.txt")
    with pytest.raises(Complaints, match=rf"x\.txt: {what}"):
        bursts.require_planned(PLANNED, log((1, 1400, 0, 1), row), "x.txt")


def test_log_with_a_packet_twice_is_named():
    with pytest.raises(Complaints, match="has packet 2 twice"):
        bursts.require_planned(PLANNED, log((1, 1400, 0, 1), (2, 1400, 0, 1), (2, 1400, 0, 1)), "x.txt")


def sent(*rows):
    """Packets from rows (ms, path, offset, length, delivered); sequence numbers are the offsets."""
    time_ms, path, offset, length, delivered = (np.array(column) for column in zip(*rows, strict=True))
    time_ns, delivered = time_ms * MS, delivered.astype(bool)
    arrival = np.where(delivered, time_ns + 6 * MS, LOST)
    return Packets(time_ns, path, path, offset + 1, offset, length, arrival, delivered)


def meet(packets, at_ms, until_ms=None):
    """The bursts that a failure of wlan takes packets of, where each loss begins, and the loss's position."""
    failure = Failure("wlan", at_ms * MS, None if until_ms is None else until_ms * MS, False)
    resent = reinjections.classify(packets)
    taken = bursts.losses(PLANNED, packets, bursts.lost_by_failure(INPUTS, packets, resent, failure))
    where = bursts.position(PLANNED, packets, taken, failure) if len(taken.burst) else None
    return taken.burst.tolist(), taken.into.tolist(), where


def test_burst_in_flight():
    packets = sent((0, 0, 0, 1400, 1), (1, 0, 1400, 1400, 0), (2, 0, 2800, 200, 0), (1000, 0, 3000, 400, 0))
    assert meet(packets, 3) == ([0, 0, 1], [1400, 2800, 0], 1400 / 3000)


def test_burst_that_begins_before_and_loses_after_the_failure():
    packets = sent((0, 0, 0, 1400, 1), (20, 0, 1400, 1400, 0), (1000, 1, 3000, 400, 1))
    assert meet(packets, 10) == ([0], [1400], 1400 / 3000)


def test_burst_in_flight_that_loses_all():
    packets = sent((0, 0, 0, 1400, 0), (1, 0, 1400, 1400, 0))
    assert meet(packets, 3) == ([0, 0], [0, 1400], 0)


def test_failure_in_a_gap_counts_as_at_the_end_of_a_burst():
    packets = sent((0, 0, 0, 1400, 1), (1, 0, 1400, 1600, 1), (2000, 0, 3400, 1400, 0), (2001, 1, 4800, 1400, 1))
    assert meet(packets, 1500) == ([2], [0], 1.0)


def test_burst_of_one_packet_counts_as_at_the_end():
    packets = sent((0, 0, 0, 1400, 1), (1000, 0, 3000, 400, 0))
    assert meet(packets, 1002) == ([1], [0], 1.0)


def test_failure_that_meets_nothing():
    packets = sent((0, 0, 0, 1400, 1), (1000, 1, 3000, 400, 0), (2000, 0, 3400, 1400, 0))
    assert meet(packets, 500, until_ms=1500) == ([], [], None)


def test_other_losses_before_the_failure_are_not_its():
    packets = sent((0, 0, 0, 1400, 0), (1, 0, 1400, 1400, 1), (1000, 0, 3000, 400, 0))
    assert meet(packets, 500) == ([1], [0], 1.0)


def test_only_original_data_counts():
    packets = sent((0, 1, 0, 1400, 1), (600, 0, 0, 1400, 0), (1000, 0, 3000, 400, 0))
    assert meet(packets, 500) == ([1], [0], 1.0)


def test_lost_packet_across_two_bursts_counts_for_both():
    packets = sent((0, 0, 0, 2500, 1), (1, 0, 2500, 1300, 0))
    lost = bursts.losses(PLANNED, packets, ~packets.delivered)
    assert lost.burst.tolist() == [0, 1, 2]
    assert lost.packet.tolist() == [1, 1, 1]
    assert lost.into.tolist() == [2500, 0, 0]
