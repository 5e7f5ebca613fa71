# SPDX-License-Identifier: Apache-2.0
"""The project's own trace files of links."""

import pytest

from pathwarp.base.complaints import Complaints
from pathwarp.model.links.course import Course, Step
from pathwarp.model.links.own import HEADER, read_own, write_own


def read(*lines: str) -> Course:
    return read_own([HEADER, *lines], "x.csv")


def test_values_are_exact():
    course = read("0,6500,20.125,0", "1000.000001,1.5,0.000001,12.5")
    assert course.steps == (Step(0, 6_500_000, 20_125_000, 0.0), Step(1_000_000_001, 1_500, 1, 0.125))
    assert course.end_ns == 1_000_000_001


def test_lines_that_change_nothing_are_merged_but_the_last_one_is_the_end():
    course = read("0,1000,5,0", "10,1000,5,0", "20,1000,6,0", "30,1000,6,0")
    assert [step.at_ns for step in course.steps] == [0, 20_000_000]
    assert course.end_ns == 30_000_000


def test_a_course_says_what_holds_when():
    course = read("10,1000,5,0", "20,2000,6,0")
    assert course.at(9_999_999) == Step(0)
    assert course.at(10_000_000).rate_bit_s == 1_000_000
    assert course.at(19_999_999).rate_bit_s == 1_000_000
    assert course.at(10**12).rate_bit_s == 2_000_000


def test_what_is_written_is_read():
    text = write_own([("0.000", "6500", "20.125", "0.5000")])
    assert text == f"{HEADER}\n0.000,6500,20.125,0.5000\n"
    assert read_own(text.splitlines(), "x.csv").steps == (Step(0, 6_500_000, 20_125_000, 0.005),)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("0,1000,5", "has 3 fields"),
        ("0,1000,5,0,0", "has 5 fields"),
        ("", "has 1 fields"),
        ("-1,1000,5,0", "time_ms is '-1'"),
        ("3600001,1000,5,0", "time_ms is '3600001'"),
        ("0,0,5,0", "rate_kbit_s is '0'"),
        ("0,100000001,5,0", "rate_kbit_s is '100000001'"),
        ("0,nan,5,0", "rate_kbit_s is 'nan'"),
        ("0,1000,\u0665,0", "delay_ms is '\u0665'"),
        ("0,1000, 5,0", "delay_ms is ' 5'"),
        ("0,1000,5,100.000001", "loss_percent is '100.000001'"),
    ],
)
def test_wrong_lines(line, what):
    with pytest.raises(Complaints) as caught:
        read(line)
    (complaint,) = caught.value.complaints
    assert (complaint.where, complaint.what) == ("x.csv:2", what)


def test_empty_files():
    for lines, what in (([], "header is ''"), ([HEADER], "has no lines")):
        with pytest.raises(Complaints) as caught:
            read_own(lines, "x.csv")
        assert what in caught.value.complaints[0].what
