# SPDX-License-Identifier: Apache-2.0
"""Capture files as columns."""

import struct

import numpy as np
import pcap_writer
import pytest

from pathwarp.base.complaints import Complaints, Exit
from pathwarp.wire import pcap

FRAMES = [(1_795_000_000_123_456_789, b"a" * 60), (1_795_000_001_000_001_000, b"b" * 1500), (7_000, b"c" * 61)]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("nano", "unit_ns"), [(True, 1), (False, 1000)])
def test_reads_both_units_and_byte_orders(tmp_path, order, nano, unit_ns):
    capture = pcap.read(pcap_writer.write(tmp_path / "x.pcap", FRAMES, nano=nano, order=order))
    assert capture.time_ns.tolist() == [time_ns // unit_ns * unit_ns for time_ns, _ in FRAMES]
    assert capture.time_ns.dtype == np.int64
    assert capture.wire_len.tolist() == [60, 1500, 61]
    assert capture.cap_len.tolist() == [60, 128, 61]
    assert bytes(capture.data[capture.at]) == b"abc"
    assert not capture.truncated


@pytest.mark.parametrize("cut", [1, 60, 61, 76])
def test_truncated_file_keeps_whole_packets(tmp_path, cut):
    path = pcap_writer.write(tmp_path / "x.pcap", FRAMES)
    path.write_bytes(path.read_bytes()[:-cut])
    capture = pcap.read(path)
    assert len(capture) == 2
    assert capture.truncated


def test_file_that_ends_after_a_packet_is_whole(tmp_path):
    path = pcap_writer.write(tmp_path / "x.pcap", FRAMES)
    path.write_bytes(path.read_bytes()[:-77])
    assert len(pcap.read(path)) == 2
    assert not pcap.read(path).truncated


def test_capture_without_packets(tmp_path):
    capture = pcap.read(pcap_writer.write(tmp_path / "x.pcap", []))
    assert len(capture) == len(capture.time_ns) == len(capture.wire_len) == 0
    assert not capture.truncated


@pytest.mark.parametrize(
    "content", [b"", b"\xd4\xc3\xb2\xa1", b"Flow>0001 Seq>1 and so on, no capture", b"\n\r\r\n" * 9]
)
def test_other_files_are_named(tmp_path, content):
    path = tmp_path / "x.pcap"
    path.write_bytes(content)
    with pytest.raises(Complaints, match=r"x\.pcap: is not a packet capture") as error:
        pcap.read(path)
    assert error.value.code == Exit.FAILED


def test_missing_file_is_named(tmp_path):
    with pytest.raises(Complaints, match=r"x\.pcap: No such file"):
        pcap.read(tmp_path / "x.pcap")


def test_other_link_types_are_named(tmp_path):
    path = tmp_path / "x.pcap"
    path.write_bytes(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 128, 113))
    with pytest.raises(Complaints, match="has link type 113"):
        pcap.read(path)


def test_gather_reads_at_any_position():
    data = np.arange(9, dtype=np.uint8)
    assert pcap.gather(data, np.array([0, 5, 3]), ">u4").tolist() == [0x00010203, 0x05060708, 0x03040506]
    assert pcap.gather(data, np.array([1]), "<u2").tolist() == [0x0201]
    assert pcap.gather(data, np.array([], np.int64), ">u8").tolist() == []


def test_the_packets_of_a_time(tmp_path):
    capture = pcap.read(pcap_writer.write(tmp_path / "x.pcap", FRAMES))
    first, last = FRAMES[0][0], FRAMES[1][0]
    for (since, until), frames in {
        (first, last): b"ab",
        (first + 1, last): b"b",
        (first + 1, last - 1): b"",
        (0, last): b"abc",
    }.items():
        (tmp_path / "y.pcap").write_bytes(pcap.between(capture, since, until))
        cut = pcap.read(tmp_path / "y.pcap")
        assert bytes(cut.data[cut.at]) == frames
        assert not cut.truncated
