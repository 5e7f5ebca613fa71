# SPDX-License-Identifier: Apache-2.0
"""The table of data packets: arrivals, and the stream offsets from the mappings."""

import pcap_writer as writer
import pytest
from trial_writer import FIRST_DSN, TrialWriter, ns

from pathwarp.base.complaints import Complaints
from pathwarp.measure.inputs import read_inputs
from pathwarp.measure.transports import packets, subflows


def collect(trial):
    inputs = read_inputs(trial.finish())
    decoded = subflows.load(inputs)
    return packets.collect(inputs, subflows.find_connection(inputs, decoded), decoded)


@pytest.fixture
def trial(tmp_path):
    made = TrialWriter(tmp_path)
    made.open("wlan", 0, isn=2**32 - 1500)
    made.open("4g", 20, isn=2**31 - 1500)
    return made


def test_columns_in_the_order_sent(trial):
    trial.send("4g", 110, 1400, 1400)
    trial.send("wlan", 100, 0, 1400)
    trial.send("wlan", 120, 2800, 700, lost=True)
    table = collect(trial)
    assert table.time_ns.tolist() == [ns(100), ns(110), ns(120)]
    assert table.path.tolist() == table.subflow.tolist() == [0, 1, 0]
    assert table.seq.tolist() == [1, 1, 1401]
    assert table.offset.tolist() == [0, 1400, 2800]
    assert table.end.tolist() == [1400, 2800, 3500]
    assert table.length.tolist() == [1400, 1400, 700]
    assert table.arrival_ns.tolist() == [ns(106), ns(150), packets.LOST]
    assert table.delivered.tolist() == [True, True, False]


def test_packets_of_one_instant_keep_their_order(trial):
    for offset in (0, 700):
        trial.send("4g", 100, offset + 5000, 700)
        trial.send("wlan", 100, offset, 700)
    assert collect(trial).offset.tolist() == [0, 700, 5000, 5700]


def test_retransmission_is_paired_with_its_own_arrival(trial):
    seq = trial.send("wlan", 100, 0, 1000, lost=True)
    trial.send("wlan", 300, 0, 1000, seq=seq)
    trial.send("wlan", 500, 0, 1000, seq=seq)
    assert collect(trial).arrival_ns.tolist() == [packets.LOST, ns(306), ns(506)]


def test_same_packet_number_again_is_paired_by_time(trial):
    seq = trial.send("wlan", 100, 0, 1000, lost=True)
    trial.ident += 65535
    trial.send("wlan", 300, 0, 1000, seq=seq)
    trial.ident += 65535
    trial.send("wlan", 500, 0, 1000, seq=seq, lost=True)
    assert collect(trial).arrival_ns.tolist() == [packets.LOST, ns(306), packets.LOST]


def test_arrival_that_was_never_sent_is_named(trial):
    trial.send("wlan", 100, 0, 1000)
    trial.packets["server-wlan"].pop()
    trial.send("wlan", 200, 1000, 1000)
    with pytest.raises(Complaints, match=r"server-wlan\.pcap: lacks 1 data packets"):
        collect(trial)


def test_sequence_numbers_wrap(trial):
    for number in range(4):
        trial.send("wlan", 100 + number, number * 1000, 1000)
    seq = trial.send("wlan", 200, 0, 1000, seq=1)
    assert seq == 1
    assert collect(trial).seq.tolist() == [1, 1001, 2001, 3001, 1]
    assert collect(trial).offset.tolist() == [0, 1000, 2000, 3000, 0]


def test_narrow_data_sequence_numbers_wrap(trial):
    to_wrap = 2**32 - FIRST_DSN % 2**32
    places = [*sorted([0, 2**31 - 5000, to_wrap - 500]), to_wrap + 500, to_wrap - 500, to_wrap + 2**31 - 9000]
    for number, place in enumerate(places):
        path = "wlan" if number % 2 else "4g"
        seq = trial.next_seq[path]
        narrow = writer.dss(FIRST_DSN + place, seq, 500, ack=1, wide=False, wide_ack=False)
        trial.send(path, 100 + number, place, 500, mapping=narrow)
    assert collect(trial).offset.tolist() == places


def test_first_packet_is_mapped_by_its_mp_capable(trial):
    trial.send("wlan", 100, 0, 800, mapping=writer.capable(1, 2, length=800))
    trial.send("wlan", 101, 800, 800)
    assert collect(trial).offset.tolist() == [0, 800]


def test_mapping_covers_several_segments_that_repeat_it(trial):
    trial.send("wlan", 90, 0, 300)
    whole = writer.dss(FIRST_DSN + 7000, 301, 3000, ack=1)
    for number, size in enumerate((1400, 1400, 200)):
        trial.send("wlan", 100 + number, 0, size, mapping=whole)
    assert collect(trial).offset.tolist() == [0, 7000, 8400, 9800]


def test_segment_without_a_mapping_belongs_to_the_one_that_covers_it(trial):
    trial.send("wlan", 100, 0, 1000, mapping=writer.dss(FIRST_DSN + 5000, 1, 3000, ack=1))
    trial.send("wlan", 101, 0, 1000, mapping=writer.dss(ack=1))
    trial.send("wlan", 102, 0, 1000, mapping=b"")
    trial.send("wlan", 103, 0, 1000, mapping=writer.dss(FIRST_DSN + 20000, 3001, 1000))
    trial.send("4g", 104, 8000, 100)
    trial.send("wlan", 105, 0, 500, seq=2501, mapping=b"")
    trial.send("wlan", 106, 0, 500, seq=3501, mapping=b"")
    assert collect(trial).offset.tolist() == [5000, 6000, 7000, 20000, 8000, 7500, 20500]


def test_mapping_of_other_bytes_does_not_count(trial):
    """A segment may bring the mapping of other bytes, earlier or later ones."""
    trial.send("wlan", 100, 0, 1000, mapping=writer.dss(FIRST_DSN + 400, 1, 1000))
    trial.send("wlan", 101, 0, 1000, mapping=writer.dss(FIRST_DSN + 9000, 2001, 1000))
    trial.send("wlan", 102, 0, 1000, mapping=writer.dss(FIRST_DSN + 1400, 1001, 1000))
    assert collect(trial).offset.tolist() == [400, 1400, 9000]


def test_mapping_without_an_end(trial):
    trial.send("wlan", 100, 0, 1000, mapping=writer.dss(FIRST_DSN, 1, 0))
    trial.send("wlan", 101, 0, 1000, mapping=b"")
    assert collect(trial).offset.tolist() == [0, 1000]


def test_data_without_any_mapping_is_named(trial):
    trial.send("wlan", 100, 0, 1000)
    trial.send("wlan", 101, 0, 1000, mapping=b"")
    with pytest.raises(Complaints, match=rf"server-wlan\.pcap: has data without a DSS mapping at {ns(101)} ns"):
        collect(trial)


def test_plain_tcp_counts_from_the_sequence_numbers(tmp_path):
    trial = TrialWriter(tmp_path, transport="tcp", paths=("wlan",))
    trial.open("wlan", 0, isn=2**32 - 700)
    for number in range(3):
        trial.send("wlan", 100 + number, 0, 500)
    assert collect(trial).offset.tolist() == [0, 500, 1000]


def test_host_without_its_address_hears_but_takes_nothing(trial):
    trial.fail("wlan", 150, "address-removed")
    trial.fail("wlan", 300, "address-removed", "end")
    for number in range(4):
        trial.send("wlan", 100 + 70 * number, 1000 * number, 1000)
    trial.send("4g", 200, 9000, 1000)
    table = collect(trial)
    assert table.time_ns.tolist() == [ns(100), ns(170), ns(200), ns(240), ns(310)]
    assert (table.arrival_ns != packets.LOST).all()
    assert table.delivered.tolist() == [True, False, True, False, True]


def test_trial_without_data(trial):
    assert len(collect(trial)) == 0
