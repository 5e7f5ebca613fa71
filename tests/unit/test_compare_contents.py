# SPDX-License-Identifier: Apache-2.0
"""The first byte, line or packet in which two run folders differ."""

import pcap_writer as pcap
import pytest

from pathwarp.compare.contents import first_difference

ENDS = ("10.1.0.1", 40001), ("10.1.1.1", 8999)
START = 1_700_000_000 * 10**9


def packet(seq: int, payload: int = 100, options: bytes = b"") -> bytes:
    return pcap.segment(*ENDS, seq, pcap.ACK | pcap.PSH, payload, options)


PACKETS = [(START + 1000 * i, packet(100 * i)) for i in range(5)]


@pytest.fixture
def differ(tmp_path):
    """Two lists of packets -> the lines of their difference."""

    def compare(sealed: list, now: list) -> list[str]:
        for side, packets in (("a", sealed), ("b", now)):
            pcap.write(tmp_path / side / "captures/x.pcap", packets)
        return first_difference(tmp_path / "a", tmp_path / "b", ["captures/x.pcap"]).lines(START)

    return compare


def test_a_packet_with_other_numbers(differ):
    changed = [*PACKETS[:2], (PACKETS[2][0], packet(201)), *PACKETS[3:]]
    assert differ(PACKETS, changed) == [
        "captures/x.pcap, packet 3, 0.000002000 s after the start of the flow",
        "sealed: 10.1.0.1:40001 > 10.1.1.1:8999 PSH ACK, seq 200, ack 0, window 1000, 100 B of data, 154 B on the wire",
        "now:    10.1.0.1:40001 > 10.1.1.1:8999 PSH ACK, seq 201, ack 0, window 1000, 100 B of data, 154 B on the wire",
    ]


def test_a_packet_at_another_time(differ):
    late = [*PACKETS[:4], (PACKETS[4][0] + 256, PACKETS[4][1])]
    assert differ(PACKETS, late)[-1] == "now 256 ns later"
    assert differ(late, PACKETS)[-1] == "now 256 ns earlier"


def test_a_packet_whose_words_are_the_same(differ):
    sealed, now = ([(START, packet(1, options=pcap.dss(dsn, 1, 100)))] for dsn in (7, 8))
    assert (
        differ(sealed, now)[-1]
        == "they differ from byte 65 of the packet on: 07 00 00 00 01 00 64 01 and 08 00 00 00 01 00 64 01"
    )


@pytest.mark.parametrize("swapped", [False, True])
def test_a_capture_that_ends_early(differ, swapped):
    sides = [PACKETS, PACKETS[:3]][:: -1 if swapped else 1]
    where, *told = differ(*sides)
    assert where.startswith("captures/x.pcap, packet 4, 0.000003000 s")
    assert told[1 - swapped].endswith("no packet: the capture ends after 3")
    assert "seq 300" in told[swapped]


def test_what_is_no_tcp_is_told_by_its_size(differ):
    frames = [(START, pcap.frame("10.1.0.1", "10.1.1.1", 1, bytes(size))) for size in (60, 70)]
    assert differ(frames[:1], frames[1:])[1] == "sealed: a packet of 94 B on the wire that is not TCP over IPv4"


def test_the_earliest_packet_of_all_captures_counts(tmp_path):
    for side, change in (("a", 0), ("b", 1)):
        pcap.write(tmp_path / side / "early.pcap", [(START, packet(change))])
        pcap.write(tmp_path / side / "late.pcap", [(START + 5, packet(change))])
        (tmp_path / side / "a.txt").write_text(str(change))
    found = first_difference(tmp_path / "a", tmp_path / "b", ["a.txt", "late.pcap", "early.pcap"])
    assert (found.where, found.at_ns) == ("early.pcap, packet 1", START)


@pytest.mark.parametrize(
    ("sealed", "now", "lines"),
    [
        (b"one\ntwo\n", b"one\ntoo\n", ["f, line 2", "sealed: two", "now:    too"]),
        (b"one\n", b"one\ntwo\n", ["f, line 2", "sealed: the end of the file", "now:    two"]),
        (b"x" * 200, b"y" * 200, ["f, line 1", f"sealed: {'x' * 160}…", f"now:    {'y' * 160}…"]),
        (b"ab\0cd", b"ab\0ce", ["f, byte 4", "sealed: 64", "now:    65"]),
        (b"ab\0", b"ab\0c", ["f, byte 3", "sealed: the end of the file", "now:    63"]),
        (None, b"", ["f", "sealed: not there", "now:    there"]),
    ],
)
def test_other_files(tmp_path, sealed, now, lines):
    for side, content in (("a", sealed), ("b", now)):
        (tmp_path / side).mkdir()
        if content is not None:
            (tmp_path / side / "f").write_bytes(content)
    assert first_difference(tmp_path / "a", tmp_path / "b", ["f"]).lines(None) == lines


def test_captures_that_are_none(tmp_path):
    for side, content in (("a", b"\0nonsense"), ("b", b"\0nonsensf")):
        (tmp_path / side).mkdir()
        (tmp_path / side / "x.pcap").write_bytes(content)
    assert first_difference(tmp_path / "a", tmp_path / "b", ["x.pcap"]).where == "x.pcap, byte 8"


def test_headers_of_captures(tmp_path):
    for side, snap in (("a", 96), ("b", 128)):
        pcap.write(tmp_path / side / "x.pcap", [(START, packet(1))], snap=snap)
    assert first_difference(tmp_path / "a", tmp_path / "b", ["x.pcap"]).where == "x.pcap, file header"
