# SPDX-License-Identifier: Apache-2.0
"""Traces from packet captures."""

import random
import struct
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathwarp.base.complaints import Complaints, Exit
from pathwarp.generate.traffic.importer import fresh_bytes, import_capture

SERVER, CLIENT, OTHER = "10.1.0.1", "10.1.1.1", "10.9.9.9"
SYN, ACK = 0x02, 0x10


def packet(src: str, dst: str, ports: tuple[int, int], seq: int, size: int, flags: int = ACK) -> tuple[bytes, int]:
    """Ethernet, IPv4 and TCP headers without the payload, as a short snap length leaves them, and the wire length."""
    ip = (
        struct.pack("!BBHHHBBH", 0x45, 0, 40 + size, 0, 0, 64, 6, 0) + IPv4Address(src).packed + IPv4Address(dst).packed
    )
    tcp = struct.pack("!HHIIBBHHH", *ports, seq % 2**32, 1, 5 << 4, flags, 1000, 0, 0)
    return bytes(12) + b"\x08\x00" + ip + tcp, 54 + size


def down(seq: int, size: int, port: int = 50000, flags: int = ACK) -> tuple[bytes, int]:
    return packet(SERVER, CLIENT, (443, port), seq, size, flags)


def up(seq: int, size: int) -> tuple[bytes, int]:
    return packet(CLIENT, SERVER, (50000, 443), seq, size)


def write_pcap(path: Path, packets: list[tuple[float, tuple[bytes, int]]]) -> Path:
    """Write (milliseconds, packet) pairs as a capture with nanosecond times."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 96, 1))
        for time_ms, (data, wire) in packets:
            seconds, ns = divmod(1_700_000_000_000_000_000 + round(time_ms * 1e6), 10**9)
            file.write(struct.pack("<IIII", seconds, ns, len(data), wire) + data)
    return path


def test_bursts_of_the_server(tmp_path):
    path = write_pcap(
        tmp_path / "a.pcap",
        [
            (0.0, down(1000, 0, flags=SYN | ACK)),
            (5.0, up(1, 300)),
            (10.0, down(1001, 1400)),
            (10.5, down(2401, 600)),
            (40.0, up(301, 50)),
            (300.25, down(3001, 400)),
            (349.0, down(3401, 100)),
        ],
    )
    assert import_capture(path, gap_s=0.05).bursts == ((0.0, 2000), (290.25, 500))
    assert import_capture(path, gap_s=0.04).bursts == ((0.0, 2000), (290.25, 400), (339.0, 100))
    assert import_capture(path, gap_s=5).bursts == ((0.0, 2500),)


def test_retransmitted_bytes_count_once(tmp_path):
    path = write_pcap(
        tmp_path / "a.pcap",
        [
            (0.0, down(1, 1000)),
            (1.0, down(2001, 1000)),
            (2.0, down(1001, 1000)),
            (250.0, down(2001, 1000)),
            (500.0, down(2001, 1500)),
            (501.0, down(1, 1000)),
        ],
    )
    assert import_capture(path).bursts == ((0.0, 3000), (500.0, 500))


def test_connections_of_one_server_count_together(tmp_path):
    path = write_pcap(
        tmp_path / "a.pcap",
        [(0.0, down(1, 100)), (1.0, down(1, 200, port=50001)), (2.0, down(1, 200, port=50001)), (100, down(101, 50))],
    )
    assert import_capture(path).bursts == ((0.0, 300), (100.0, 50))


def test_server_is_who_sends_most_unless_named(tmp_path):
    other = packet(OTHER, CLIENT, (443, 50002), 1, 90)
    path = write_pcap(tmp_path / "a.pcap", [(0.0, up(1, 60)), (1.0, down(1, 500)), (2.0, other)])
    assert import_capture(path).bursts == ((0.0, 500),)
    assert import_capture(path, server=CLIENT).bursts == ((0.0, 60),)
    assert import_capture(path, server=OTHER).bursts == ((0.0, 90),)


def test_tiny_bursts_grow_to_what_can_be_sent(tmp_path):
    path = write_pcap(tmp_path / "a.pcap", [(0.0, down(1, 5)), (100.0, down(6, 30))])
    assert import_capture(path).bursts == ((0.0, 24), (100.0, 30))


@pytest.mark.parametrize(
    ("server", "what"),
    [
        ("10.0.0.300", "'10.0.0.300' is no address"),
        ("::1", "'::1' is no address"),
        (OTHER, f"{OTHER} sends no payload"),
    ],
)
def test_wrong_server(tmp_path, server, what):
    path = write_pcap(tmp_path / "a.pcap", [(0.0, up(1, 60)), (1.0, down(1, 500))])
    with pytest.raises(Complaints) as caught:
        import_capture(path, server=server)
    assert what in str(caught.value) and caught.value.code == Exit.BAD_INPUT


@pytest.mark.parametrize("content", [None, b"", b"start_ms,size_bytes\n0,400\n" * 10])
def test_what_is_no_capture(tmp_path, content):
    path = tmp_path / "a.pcap"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(Complaints) as caught:
        import_capture(path)
    assert caught.value.code == Exit.BAD_INPUT


def test_capture_without_payload(tmp_path):
    path = write_pcap(tmp_path / "a.pcap", [(0.0, down(1, 0))])
    with pytest.raises(Complaints) as caught:
        import_capture(path)
    assert "has no TCP payload" in str(caught.value)


@given(
    base=st.integers(0, 2**32 - 1),
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=30),
    seed=st.integers(0, 1000),
)
def test_every_byte_counts_once_in_any_order(base, lengths, seed):
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    segments = [(start, length) for start, length in zip(starts, lengths, strict=True)]
    # Repeats that are cut differently, as retransmissions often are.
    segments += [(start + length // 2, length - length // 2) for start, length in segments]
    random.Random(seed).shuffle(segments)
    seen: set[int] = set()
    for (start, length), fresh in zip(
        segments, fresh_bytes(((base + start) % 2**32, length) for start, length in segments), strict=True
    ):
        new = set(range(start, start + length)) - seen
        assert fresh == len(new)
        seen |= new
