# SPDX-License-Identifier: Apache-2.0
"""MPTCP options as columns."""

import numpy as np
import pcap_writer as writer
import pytest

from pathwarp.wire import mptcp, pcap, tcp
from pathwarp.wire.mptcp import Subtype

SERVER, CLIENT = ("10.1.0.1", 40001), ("10.1.1.1", 8999)
NOPS = b"\1\1"


def decode(tmp_path, *options, snap=128):
    frames = [(i, writer.segment(SERVER, CLIENT, 1, options=each)) for i, each in enumerate(options)]
    capture = pcap.read(writer.write(tmp_path / "x.pcap", frames, snap))
    return mptcp.decode(capture, tcp.decode(capture))


def signals(columns):
    table = columns.signals
    rows = zip(table.segment, table.subtype, table.flags, table.address_id, table.length, strict=True)
    return [tuple(map(int, row)) for row in rows]


@pytest.mark.parametrize("before", [b"", writer.TIMESTAMPS, NOPS, b"\2\4\5\xb4", b"\1\1\5\x0a" + bytes(8)])
@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("ack", [None, "narrow", "wide"])
@pytest.mark.parametrize("checksum", [True, False])
def test_dss_with_a_mapping(tmp_path, before, wide, ack, checksum):
    dsn, data_ack = 0xF123456789ABCDEF, 0xE0000001D0000002
    number = None if ack is None else data_ack
    dss = writer.dss(dsn, 0x87654321, 1428, number, wide, ack == "wide", checksum=checksum)
    columns = decode(tmp_path, before + dss, before)
    assert columns.has_dss.tolist() == columns.has_map.tolist() == [True, False]
    assert columns.dsn.tolist() == [dsn if wide else dsn % 2**32, 0]
    assert columns.wide_dsn.tolist() == [wide, False]
    assert (columns.ssn[0], columns.dlen[0]) == (0x87654321, 1428)
    assert columns.has_ack.tolist() == [ack is not None, False]
    assert columns.data_ack[0] == (0 if ack is None else data_ack if ack == "wide" else data_ack % 2**32)
    assert columns.wide_ack[0] == (ack == "wide")
    assert columns.subtypes.tolist() == [4, 0]
    assert not columns.data_fin.any()
    assert signals(columns) == []


def test_dss_with_an_ack_alone_and_data_fin(tmp_path):
    columns = decode(tmp_path, writer.dss(ack=5), writer.dss(7, 0, 1, fin=True), writer.option(2, 0, b"\0"))
    assert columns.has_dss.tolist() == [True] * 3
    assert columns.has_map.tolist() == [False, True, False]
    assert columns.data_fin.tolist() == [False, True, False]
    assert columns.data_ack.tolist() == [5, 0, 0]


def test_every_other_subtype(tmp_path):
    columns = decode(
        tmp_path,
        writer.capable(),
        writer.capable(1),
        writer.capable(1, 2),
        writer.join(3, 9),
        writer.option(1, 1, bytes([4]) + bytes(12)),
        writer.option(1, 0, bytes(21)),
        writer.option(3, 0, bytes([5, 10, 2, 1, 1, 0x23, 0x27]) + bytes(8)),
        writer.option(3, 1, bytes([6, 10, 2, 1, 1])),
        writer.option(4, 0, bytes([7])),
        writer.option(4, 0, bytes([8, 9, 10])),
        writer.option(5, 1, b""),
        writer.option(5, 0, bytes([11])),
        writer.option(6, 0, bytes(9)),
        writer.option(7, 0, bytes(9)),
        writer.option(8, 1, b"\2"),
    )
    assert signals(columns) == [
        (0, Subtype.MP_CAPABLE, 1, -1, 4),
        (1, Subtype.MP_CAPABLE, 1, -1, 12),
        (2, Subtype.MP_CAPABLE, 1, -1, 20),
        (3, Subtype.MP_JOIN, 0, 3, 12),
        (4, Subtype.MP_JOIN, 1, 4, 16),
        (5, Subtype.MP_JOIN, 0, -1, 24),
        (6, Subtype.ADD_ADDR, 0, 5, 18),
        (7, Subtype.ADD_ADDR, 1, 6, 8),
        (8, Subtype.REMOVE_ADDR, 0, 7, 4),
        (9, Subtype.REMOVE_ADDR, 0, 8, 6),
        (9, Subtype.REMOVE_ADDR, 0, 9, 6),
        (9, Subtype.REMOVE_ADDR, 0, 10, 6),
        (10, Subtype.MP_PRIO, 1, -1, 3),
        (11, Subtype.MP_PRIO, 0, 11, 4),
        (12, Subtype.MP_FAIL, 0, -1, 12),
        (13, Subtype.MP_FASTCLOSE, 0, -1, 12),
        (14, Subtype.MP_TCPRST, 1, -1, 4),
    ]
    assert columns.subtypes.tolist() == [1, 1, 1, 2, 2, 2, 8, 8, 16, 16, 32, 32, 64, 128, 256]
    assert columns.address_id.tolist() == [-1, -1, -1, 3, 4, -1, 5, 6, 7, 8, -1, 11, -1, -1, -1]
    assert not columns.has_map.any()


@pytest.mark.parametrize("checksum", [True, False])
def test_first_data_is_mapped_by_its_mp_capable(tmp_path, checksum):
    columns = decode(tmp_path, writer.TIMESTAMPS + writer.capable(1, 2, length=1000, checksum=checksum))
    assert (columns.has_map[0], columns.initial[0], columns.ssn[0], columns.dlen[0]) == (True, True, 1, 1000)


def test_several_options_in_a_segment(tmp_path):
    remove = writer.option(4, 0, bytes([2]))
    columns = decode(tmp_path, remove + NOPS + writer.dss(1, 2, 3, wide=False) + writer.option(5, 1, b""))
    assert columns.subtypes.tolist() == [1 << 4 | 1 << 2 | 1 << 5]
    assert columns.has_map[0]
    assert columns.address_id[0] == 2


@pytest.mark.parametrize(
    "options",
    [
        bytes([30, 8]) + writer.dss(1, 2, 3)[2:8],  # too short for its own flags
        b"\0\0\0\0" + writer.dss(1, 2, 3),  # behind the end of the options
        bytes([8, 0, 1, 1]) + writer.dss(1, 2, 3),  # behind an option of length 0
        bytes([8, 1, 1, 1]) + writer.dss(1, 2, 3),
        b"\1\1\1" + bytes([30]),  # a kind without a length
        bytes([30, 200, 0x20, 0x0C]),  # longer than the header
        bytes([30, 2, 1, 1]),  # no subtype
        bytes([30, 3, 0x20, 1]),  # no flags
    ],
)
def test_malformed_options_are_no_mappings(tmp_path, options):
    columns = decode(tmp_path, options)
    assert not columns.has_map[0]
    assert signals(columns) == []


def test_options_that_were_not_captured_are_none(tmp_path):
    whole = writer.TIMESTAMPS + writer.dss(1, 2, 3)
    assert not decode(tmp_path, whole, snap=14 + 40 + len(whole) - 1).has_map[0]
    assert decode(tmp_path, whole, snap=14 + 40 + len(whole)).has_map[0]


def test_extends_narrow_numbers_over_wraps():
    start = 0x5_FFFF_FF00
    true = [start, start + 0x50, start + 0x150, start - 8, 0x6_5000_0000, 0x6_A000_0000, 0x7_1000_0000]
    number = np.array([t % 2**32 for t in true], np.uint64)
    wide = np.zeros(len(true), bool)
    assert mptcp.extend(number, wide, start).tolist() == true


def test_extends_narrow_numbers_over_the_end_of_64_bits():
    start = 2**64 - 5
    number = np.array([2**32 - 2, 3, 7], np.uint64)
    assert mptcp.extend(number, np.zeros(3, bool), start).tolist() == [2**64 - 2, 3, 7]


def test_wide_numbers_stay_and_lead_narrow_ones():
    start = 2**33 - 4
    true = [2**33 + 10, 2**33 - 2, 2**33 + 20]
    number = np.array([2**33 + 10, (2**33 - 2) % 2**32, 20], np.uint64)
    assert mptcp.extend(number, np.array([True, False, False]), start).tolist() == true


def test_token_and_first_dsn_of_a_key():
    # From a capture of Linux: the key of MP_CAPABLE, the token of the MP_JOIN, the DSN of the second mapping less 1000.
    assert mptcp.token_and_first_dsn(0x7E84B0516E9916D4)[0] == 0x88F1CDE4
    assert mptcp.token_and_first_dsn(0x8C8983EB448950FA)[1] == 6434906853221702880 - 1000
