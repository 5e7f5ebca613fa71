# SPDX-License-Identifier: Apache-2.0
"""IPv4 and TCP headers as columns."""

import pcap_writer as writer

from pathwarp.wire import pcap, tcp

SERVER, CLIENT = ("10.1.0.1", 40001), ("10.1.1.1", 8999)


def decode(tmp_path, frames, snap=128):
    capture = pcap.read(writer.write(tmp_path / "x.pcap", [(i, frame) for i, frame in enumerate(frames)], snap))
    return tcp.decode_ipv4(capture), tcp.decode(capture)


def test_fields(tmp_path):
    frame = writer.segment(SERVER, CLIENT, 2**32 - 5, 0x18, 700, writer.TIMESTAMPS, ident=513, ack=2**31 + 9)
    _, columns = decode(tmp_path, [frame])
    row = {name: column.tolist()[0] for name, column in vars(columns).items()}
    del row["options_at"], row["options_end"]
    assert row == {
        "row": 0,
        "time_ns": 0,
        "src": 0x0A010001,
        "dst": 0x0A010101,
        "sport": 40001,
        "dport": 8999,
        "seq": 2**32 - 5,
        "ack": 2**31 + 9,
        "flags": 0x18,
        "window": 1000,
        "ident": 513,
        "payload_len": 700,
    }
    assert (columns.options_end - columns.options_at).tolist() == [12]


def test_payload_length_is_that_of_the_ip_header(tmp_path):
    frames = [
        writer.segment(SERVER, CLIENT, 1, payload=1400),  # captured in part
        writer.segment(SERVER, CLIENT, 1),  # padded to 60 bytes
        writer.segment(SERVER, CLIENT, 1, payload=3),
        writer.segment(SERVER, CLIENT, 1, payload=9, ip_options=bytes(8)),
    ]
    _, columns = decode(tmp_path, frames)
    assert columns.payload_len.tolist() == [1400, 0, 3, 9]
    assert columns.seq.tolist() == [1, 1, 1, 1]


def test_other_packets_are_left_out(tmp_path):
    good = writer.segment(SERVER, CLIENT, 1, payload=10)
    arp = bytes(12) + b"\x08\x06" + bytes(46)
    ipv6 = bytes(12) + b"\x86\xdd" + b"\x60" + bytes(60)
    udp = writer.frame("10.1.0.1", "10.1.1.1", 17, bytes(20))
    fragment = writer.segment(SERVER, CLIENT, 1, payload=10, fragment=185)
    short_header = bytearray(good)
    short_header[14] = 0x44
    ip, columns = decode(tmp_path, [arp, good, ipv6, udp, good[:30], fragment, good[:50], bytes(short_header), good])
    assert columns.row.tolist() == [1, 8]
    assert columns.time_ns.tolist() == [1, 8]
    assert ip.row.tolist() == [1, 3, 5, 6, 7, 8]


def test_options_end_where_the_capture_ends(tmp_path):
    frame = writer.segment(SERVER, CLIENT, 1, options=writer.TIMESTAMPS + writer.dss(1, 1, 1, ack=1))
    _, columns = decode(tmp_path, [frame], snap=14 + 20 + 20 + 12)
    assert (columns.options_end - columns.options_at).tolist() == [12]


def test_capture_without_packets(tmp_path):
    _, columns = decode(tmp_path, [])
    assert len(columns) == 0
