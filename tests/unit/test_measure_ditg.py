# SPDX-License-Identifier: Apache-2.0
"""D-ITG's decoded log as columns."""

import pytest
from trial_writer import ZERO_NS

from pathwarp.base.complaints import Complaints
from pathwarp.measure.apps import ditg

ENDS = f"Src>{'10.1.0.1':>46}/58400 Dest>{'10.1.1.1':>46}/8999 "
# As ITGDec 2.8.1 writes them: hours, minutes and seconds are not padded.
LINES = [
    f"Flow>0001 Seq>      1 {ENDS}txTime>11:6:41.062342 rxTime>11:6:41.068406 Size> 1000\n",
    f"Flow>0001 Seq>      2 {ENDS}txTime>11:6:59.999999 rxTime>11:7:0.000001 Size>  400\n",
    f"Flow>0001 Seq>     13 {ENDS}txTime>11:16:9.500000 rxTime>11:16:10.000000 Size>65535\n",
]


def read(tmp_path, text, near_ns=ZERO_NS):
    path = tmp_path / "ditg-receiver.txt"
    path.write_text(text)
    return ditg.read(path, near_ns)


def test_columns(tmp_path):
    log = read(tmp_path, "".join(LINES))
    assert log.number.tolist() == [1, 2, 13]
    assert log.size.tolist() == [1000, 400, 65535]
    assert (log.sent_ns - ZERO_NS).tolist() == [1_062_342_000, 19_999_999_000, 569_500_000_000]
    assert (log.read_ns - ZERO_NS).tolist() == [1_068_406_000, 20_000_001_000, 570_000_000_000]


def test_rows_are_in_the_order_of_their_numbers(tmp_path):
    log = read(tmp_path, LINES[2] + LINES[0] + LINES[1])
    assert log.number.tolist() == [1, 2, 13]
    assert log.size.tolist() == [1000, 400, 65535]


def test_short_fields(tmp_path):
    log = read(tmp_path, "Flow>1 Seq>1 Src>10.1.0.1/4 Dest>10.1.1.1/8 txTime>1:2:3.000004 rxTime>1:2:3.000005 Size>7\n")
    assert (log.number.tolist(), log.size.tolist()) == ([1], [7])
    assert (log.read_ns - log.sent_ns).tolist() == [1000]


def test_midnight(tmp_path):
    midnight = ZERO_NS // ditg.DAY_NS * ditg.DAY_NS + ditg.DAY_NS
    lines = [
        f"Flow>0001 Seq>1 {ENDS}txTime>23:59:59.900000 rxTime>0:0:0.000001 Size>1\n",
        f"Flow>0001 Seq>2 {ENDS}txTime>0:0:0.100000 rxTime>0:0:0.200000 Size>1\n",
    ]
    for near_ns in (midnight - 10**9, midnight, midnight + 10**9):
        log = read(tmp_path, "".join(lines), near_ns)
        assert (log.sent_ns - midnight).tolist() == [-100_000_000, 100_000_000]
        assert (log.read_ns - midnight).tolist() == [1000, 200_000_000]


def test_log_without_packets(tmp_path):
    assert len(read(tmp_path, "")) == 0


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (LINES[0] + LINES[1][:-1], "ends inside a line"),
        (LINES[0] + "ITGDec version 2.8.1 (r1023)\n", "line 2 is not a packet"),
        ("\n" + LINES[0], "line 1 is not a packet"),
        (LINES[0] + LINES[1].replace("Seq>", "Que>"), "line 2 is not a packet"),
        (LINES[0] + LINES[1].replace(".999999", ".99999"), "line 2 is not a packet"),
        (LINES[0] + " " + LINES[1], "line 2 is not a packet"),
        (LINES[0].replace("Size>", "Size:"), "line 1 is not a packet"),
    ],
)
def test_other_text_is_named(tmp_path, text, what):
    with pytest.raises(Complaints, match=rf"ditg-receiver\.txt: {what}"):
        read(tmp_path, text)


def test_missing_file_is_named(tmp_path):
    with pytest.raises(Complaints, match=r"ditg-receiver\.txt: No such file"):
        ditg.read(tmp_path / "ditg-receiver.txt", ZERO_NS)
