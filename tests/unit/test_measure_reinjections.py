# SPDX-License-Identifier: Apache-2.0
"""New, retransmitted, reinjected and repeated bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathwarp.measure.inputs import Failure
from pathwarp.measure.transports import reinjections
from pathwarp.measure.transports.packets import LOST, Packets

MS = 1_000_000


def table(*rows):
    """Packets 10 ms apart from rows (subflow, seq, offset, length, delivered); path and subflow are the same."""
    subflow, seq, offset, length, delivered = (np.array(column) for column in zip(*rows, strict=True))
    time_ns = np.arange(len(rows)) * 10 * MS
    delivered = delivered.astype(bool)
    return Packets(
        time_ns, subflow, subflow, seq, offset, length, np.where(delivered, time_ns + 3 * MS, LOST), delivered
    )


def kinds(packets):
    resent = reinjections.classify(packets)
    columns = (resent.new, resent.retransmitted, resent.reinjected, resent.repeated, resent.spurious)
    assert (sum(columns[:4]) == packets.length).all()
    return [tuple(map(int, row)) for row in zip(*columns, strict=True)]


NEW, RETRANSMITTED, REINJECTED = (1000, 0, 0, 0, 0), (0, 1000, 0, 0, 0), (0, 0, 1000, 0, 0)
REPEATED, SPURIOUS = (0, 0, 0, 1000, 0), (0, 0, 1000, 0, 1000)


def test_each_kind():
    packets = table(
        (0, 1, 0, 1000, 0),
        (0, 1, 0, 1000, 0),  # the probe
        (1, 1, 0, 1000, 1),  # the reinjection
        (0, 1, 0, 1000, 0),  # the RTO's retransmission
        (1, 1001, 0, 1000, 1),  # again on the second subflow, under new sequence numbers
        (1, 1, 0, 1000, 1),
        (0, 1001, 1000, 1000, 1),
        (1, 2001, 1000, 1000, 1),  # its original arrived
    )
    expected = [NEW, RETRANSMITTED, REINJECTED, RETRANSMITTED, REPEATED, RETRANSMITTED, NEW, SPURIOUS]
    assert kinds(packets) == expected
    assert (reinjections.classify(packets).age_ns // MS).tolist() == [0, 10, 20, 30, 40, 50, 0, 10]


def test_split_and_coalesced_reinjections():
    packets = table(
        (0, 1, 0, 1000, 0),
        (0, 1001, 1000, 1000, 1),
        (1, 1, 500, 1000, 1),  # the end of the first, the start of the second
        (1, 1001, 0, 500, 1),
        (1, 1501, 1500, 1000, 1),  # half of it is new
    )
    assert kinds(packets) == [NEW, NEW, (0, 0, 1000, 0, 500), (0, 0, 500, 0, 0), (500, 0, 500, 0, 500)]


def test_coalesced_retransmission_with_new_data():
    packets = table((0, 1, 0, 400, 0), (0, 401, 400, 400, 0), (0, 1, 0, 1000, 1))
    assert kinds(packets)[2] == (200, 800, 0, 0, 0)


def test_partly_reinjected_partly_retransmitted():
    packets = table((0, 1, 0, 1000, 0), (1, 1, 0, 600, 0), (1, 1, 0, 1000, 1))
    assert kinds(packets)[2] == (0, 600, 400, 0, 0)


def test_spurious_only_by_an_earlier_packet_of_another_subflow():
    packets = table((0, 1, 0, 1000, 0), (1, 1, 0, 1000, 0), (0, 1, 0, 1000, 1), (1, 1, 0, 1000, 1))
    assert kinds(packets) == [NEW, REINJECTED, RETRANSMITTED, RETRANSMITTED]


def test_third_subflow():
    packets = table((0, 1, 0, 1000, 0), (1, 1, 0, 1000, 1), (2, 1, 0, 1000, 1))
    assert kinds(packets) == [NEW, REINJECTED, SPURIOUS]


SEGMENTS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 40), st.integers(1, 12), st.integers(0, 60), st.booleans()),
    min_size=1,
    max_size=40,
)


@given(SEGMENTS)
def test_agrees_with_a_model_of_byte_sets(rows):
    """Segments are taken from a per-subflow mapping of sequence numbers to offsets, or map new sequence numbers."""
    mapped, sent, delivered = ({0: [], 1: [], 2: []} for _ in range(3))
    packets, expected = [], []
    for subflow, offset, length, place, arrives in rows:
        history = mapped[subflow]
        if place < len(history):  # a retransmission, cut anywhere
            seq, end = place, min(place + length, len(history))
            run = history[seq:end]
            run = run[: next((i for i in range(1, len(run)) if run[i] != run[0] + i), len(run))]
            offset, length = run[0], len(run)
            again = length
        else:
            seq, again = len(history), 0
            history += range(offset, offset + length)
        data = set(range(offset, offset + length))
        own = {byte for byte in data if byte in {b for s in sent[subflow] for b in s}}
        others = {b for number in sent if number != subflow for s in sent[number] for b in s} & data
        arrived = {b for number in delivered if number != subflow for s in delivered[number] for b in s} & data
        reinjected = others - own
        new = length - len(own | others)
        expected.append((new, again, len(reinjected), len(own) - again, len(reinjected & arrived)))
        sent[subflow].append(data)
        if arrives:
            delivered[subflow].append(data)
        packets.append((subflow, seq + 1, offset, length, arrives))
    assert kinds(table(*packets)) == expected


def test_repaired_when_the_last_byte_came():
    packets = table((0, 1, 0, 1000, 0), (0, 1001, 1000, 1000, 0), (1, 1, 0, 1500, 1), (1, 1501, 1500, 900, 1))
    assert reinjections.repaired_ns(packets, np.array([1, 0, 0, 0], bool)) == 23 * MS
    assert reinjections.repaired_ns(packets, np.array([1, 1, 0, 0], bool)) == 33 * MS
    assert reinjections.repaired_ns(packets, np.zeros(4, bool)) is None


def test_never_repaired():
    packets = table((0, 1, 0, 1000, 0), (1, 1, 0, 999, 1))
    assert reinjections.repaired_ns(packets, np.array([1, 0], bool)) is None


def test_first_reinjection_after_the_failure_on_another_path():
    packets = table(
        (0, 1, 0, 9, 0), (1, 1, 0, 9, 0), (1, 10, 9, 9, 0), (0, 10, 9, 9, 0), (0, 19, 18, 9, 0), (1, 19, 18, 9, 1)
    )
    resent = reinjections.classify(packets)
    assert reinjections.first_after(packets, resent, Failure("wlan", 20 * MS, None, False), 0) == 5
    assert reinjections.first_after(packets, resent, Failure("wlan", 5 * MS, None, False), 0) == 1
    assert reinjections.first_after(packets, resent, Failure("wlan", 60 * MS, None, False), 0) is None


def test_rate_counts_packets_in_the_periods():
    packets = table((0, 1, 0, 9, 0), (1, 1, 0, 9, 1), (0, 10, 9, 9, 1), (0, 19, 18, 9, 1))
    resent = reinjections.classify(packets)
    assert reinjections.rate(packets, resent, [(0, 10**18)]) == 0.25
    assert reinjections.rate(packets, resent, [(5 * MS, 15 * MS), (25 * MS, 35 * MS)]) == 0.5
    assert reinjections.rate(packets, resent, [(0, 10 * MS)]) == 0
    assert reinjections.rate(packets, resent, []) is None


@pytest.mark.parametrize("count", [0, 1])
def test_tables_of_no_and_one_packet(count):
    empty = np.zeros(0, np.int64)
    packets = table((0, 1, 0, 5, 1)) if count else Packets(*[empty] * 7, empty.astype(bool))
    assert kinds(packets) == [(5, 0, 0, 0, 0)] * count
