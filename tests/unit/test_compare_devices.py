# SPDX-License-Identifier: Apache-2.0
"""Two runs of one of the kernel's own tests, packet by packet."""

import json

import pcap_writer
import pytest
from pcap_writer import ACK, SYN, dss, frame, segment

from pathwarp.base.complaints import Complaints, Exit
from pathwarp.compare.packets.devices import is_selftest, report_runs

BEGIN_NS = 1_795_000_000_000_000_000
MS = 1_000_000
CLIENT, SERVER = ("10.0.1.1", 40000), ("10.0.1.2", 10005)


def make_run(folder, drawn, late_ms=0, lost=False, devices=("ns1eth1", "ns2eth1")):
    """A handshake, data and its ACK, with the numbers that a seed draws; the data comes later by `late_ms`."""
    client, isn, peer, dsn = (CLIENT[0], 40000 + drawn), 1000 * drawn, 77 * drawn, 2**40 * drawn
    packets = [
        (1, segment(client, SERVER, isn, SYN)),
        (2, segment(SERVER, client, peer, SYN | ACK, ack=isn + 1)),
        (3 + late_ms, segment(client, SERVER, isn + 1, ACK, 100, dss(dsn, 1, 100), ack=peer + 1)),
        (4 + late_ms, segment(SERVER, client, peer + 1, ACK, options=dss(ack=dsn + 100), ack=isn + 101)),
        (9, frame(CLIENT[0], SERVER[0], 17, bytes(20))),
    ]
    (folder / "captures").mkdir(parents=True)
    (folder / "logs").mkdir()
    (folder / "logs" / "guest.json").write_text(json.dumps({"begin_ns": BEGIN_NS}))
    (folder / "logs" / "selftest.json").write_text("{}")
    for device in devices:
        seen = [(BEGIN_NS + at_ms * MS, content) for at_ms, content in packets]
        del seen[3 : 4 if lost and device == devices[0] else 3]
        pcap_writer.write(folder / "captures" / f"{device}.pcap", seen, snap=200)
    return folder


def report(*folders):
    return list(report_runs(*folders))


def test_what_a_seed_draws_is_no_difference(tmp_path):
    one, two = make_run(tmp_path / "one", 3), make_run(tmp_path / "two", 5)
    assert is_selftest(one)
    assert not is_selftest(tmp_path)
    assert report(one, two)[-1] == "They are the same packet for packet, 10 on all devices."


def test_the_first_packet_that_differs(tmp_path):
    lines = report(make_run(tmp_path / "one", 3), make_run(tmp_path / "two", 5, late_ms=2))
    assert "They share the first 4 packets of all devices" in lines
    place = lines.index("First difference, 0.003000 s from the test's beginning:")
    assert lines[place + 1] == "  a: 0.003000 s  ns1eth1: connection 1, 100 B, seq 1, DSN 0"
    assert lines[place + 2] == "  b: 0.005000 s  ns1eth1: connection 1, 100 B, seq 1, DSN 0"
    assert "      0.009000 s  ns1eth1: IP protocol 17, 40 B" in lines


def test_a_packet_that_one_run_lacks(tmp_path):
    lines = report(make_run(tmp_path / "one", 3), make_run(tmp_path / "two", 5, lost=True))
    place = lines.index("First difference, 0.004000 s from the test's beginning:")
    assert lines[place + 1] == "  a: 0.004000 s  ns1eth1: connection 1, ACK 101, data ACK 0"
    assert lines[place + 2] == "  b: no such packet"


def test_a_device_that_one_run_lacks(tmp_path):
    lines = report(make_run(tmp_path / "one", 3), make_run(tmp_path / "two", 5, devices=("ns1eth1",)))
    place = lines.index("First difference, 0.001000 s from the test's beginning:")
    assert lines[place + 1] == "  a: 0.001000 s  ns2eth1: connection 1, SYN"


def test_a_folder_without_captures(tmp_path):
    one, two = make_run(tmp_path / "one", 3), make_run(tmp_path / "two", 5, devices=())
    with pytest.raises(Complaints, match="has no captures") as caught:
        report(one, two)
    assert caught.value.code == Exit.FAILED
    assert "run the test with capture=1" in str(caught.value)
