# SPDX-License-Identifier: Apache-2.0
"""Trace files and what D-ITG gets of them."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathwarp.base.complaints import MOST_OF_A_FILE, Complaints
from pathwarp.model.links.mahimahi import read_mahimahi
from pathwarp.model.links.own import HEADER, read_own
from pathwarp.model.traces import (
    BACK_TO_BACK_MS,
    SMALLEST_PACKET_BYTES,
    Burst,
    Trace,
    departures,
    packet_sizes,
    read_csv,
    write_csv,
)

TRACE = Trace((Burst(0.0, 400), Burst(1250.5, 3000)))


def test_file_comes_back_as_written(tmp_path):
    path = tmp_path / "new" / "01.csv"
    write_csv(path, TRACE)
    assert path.read_bytes() == b"start_ms,size_bytes\n0.000,400\n1250.500,3000\n"
    assert read_csv(path, 180) == TRACE
    assert [file.name for file in path.parent.iterdir()] == ["01.csv"]


def test_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "01.csv"
    path.mkdir()
    with pytest.raises(Complaints) as caught:
        write_csv(path, TRACE)
    assert "01.csv: cannot be written" in str(caught.value)
    assert [file.name for file in tmp_path.iterdir()] == ["01.csv"]


def test_all_complaints_of_a_file_with_their_lines(tmp_path):
    path = tmp_path / "01.csv"
    lines = ["start,size", "0,400", "soon,400", "5,0", "5,1.5", "4,400,1", "2,500", "2000,500", "-1,500", "nan,inf"]
    path.write_text("\n".join(lines))
    with pytest.raises(Complaints) as caught:
        read_csv(path, duration_s=2)
    found = [(complaint.where.removeprefix(f"{path}:"), complaint.what) for complaint in caught.value.complaints]
    assert found == [
        ("1", "header is 'start,size'"),
        ("3", "start_ms is 'soon'"),
        ("4", "size_bytes is 0"),
        ("5", "start_ms is 5, after 5.000 above"),
        ("5", "size_bytes is '1.5'"),
        ("6", "has 3 fields"),
        ("7", "start_ms is 2, after 5.000 above"),
        ("8", "start_ms is 2000, at or after the end"),
        ("9", "start_ms is '-1'"),
        ("10", "start_ms is 'nan'"),
        ("10", "size_bytes is 'inf'"),
    ]


@pytest.mark.parametrize(
    "read",
    [
        lambda lines, path: path.write_text("\n".join(["start_ms,size_bytes", *lines])) and read_csv(path),
        lambda lines, path: read_own([HEADER, *lines], str(path)),
        lambda lines, path: read_mahimahi(["0", *lines], str(path), 1_000_000, 1_000_000_000),
    ],
)
def test_a_file_of_many_wrong_lines_is_not_looked_at_to_its_end(tmp_path, read):
    with pytest.raises(Complaints) as caught:
        read(["no line"] * 5000, tmp_path / "01.csv")
    *each, last = caught.value.complaints
    assert len(each) == MOST_OF_A_FILE
    assert last.what == f"{5000 - MOST_OF_A_FILE} more lines were not looked at"
    assert last.where.endswith(f":{MOST_OF_A_FILE + 2}")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (None, "no such trace"),
        (b"", "header is ''"),
        (b"start_ms,size_bytes\n", "has no bursts"),
        (b"\xff\xfe", "cannot be read"),
    ],
)
def test_files_that_hold_no_trace(tmp_path, content, what):
    path = tmp_path / "01.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(Complaints) as caught:
        read_csv(path)
    assert what in caught.value.complaints[0].what


def test_packets_of_a_burst_leave_back_to_back():
    waits_ms, sizes = departures(TRACE, packet_bytes=1400)
    assert sizes == [400, 1400, 1400, 200]
    assert waits_ms == [BACK_TO_BACK_MS, pytest.approx(1250.5, abs=0.001), BACK_TO_BACK_MS, BACK_TO_BACK_MS]


def test_first_wait_is_the_first_start():
    waits_ms, _ = departures(Trace((Burst(700.0, 400), Burst(900.0, 400))), packet_bytes=1400)
    assert waits_ms == [700.0, 200.0]


@pytest.mark.parametrize(
    ("size", "packets"),
    [
        (24, [24]),
        (1400, [1400]),
        (1401, [1377, 24]),
        (1424, [1400, 24]),
        (2823, [1400, 1399, 24]),
        (2824, [1400, 1400, 24]),
    ],
)
def test_no_packet_is_smaller_than_ditg_can_send(size, packets):
    assert packet_sizes(size, 1400) == packets


starts = st.lists(st.integers(1, 5_000_000), min_size=1, max_size=20).map(
    lambda gaps_us: [sum(gaps_us[:i]) / 1000 for i in range(len(gaps_us))]
)


@given(starts=starts, size=st.integers(24, 200_000), packet=st.integers(48, 64_000))
def test_departures_keep_bytes_and_never_wait_zero(starts, size, packet):
    trace = Trace(tuple(Burst(start, size) for start in starts))
    waits_ms, sizes = departures(trace, packet)
    count = -(-size // packet)
    assert len(waits_ms) == len(sizes) == count * len(starts)
    assert sum(sizes) == trace.size_bytes
    assert min(sizes) >= SMALLEST_PACKET_BYTES and max(sizes) <= packet
    # ITGSend takes no wait of 0 and no line of 29 characters or more.
    assert all(float(f"{wait:.4f}") > 0 and len(f"{wait:.4f}") < 29 for wait in waits_ms)


@given(starts=starts, size=st.integers(24, 14_000))
def test_departures_stay_on_the_traces_clock(starts, size):
    spread = [start * 1000 for start in starts]
    waits_ms, _ = departures(Trace(tuple(Burst(start, size) for start in spread)), 1400)
    clock_ms, count = 0.0, -(-size // 1400)
    assert len(waits_ms) == count * len(spread) > 0
    for index, wait_ms in enumerate(waits_ms):
        clock_ms += wait_ms
        if index % count == 0:
            assert clock_ms == pytest.approx(spread[index // count], abs=0.001)


def test_reading_traces_takes_no_numpy():
    code = "import sys, pathwarp.model.traces; sys.exit('numpy' in sys.modules or 'pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
