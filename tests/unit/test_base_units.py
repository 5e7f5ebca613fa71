# SPDX-License-Identifier: Apache-2.0
"""Values with units: exact, and strict about what they are."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathwarp.base import units

PARSERS = [
    units.parse_duration_ns,
    units.parse_duration_s,
    units.parse_size_bytes,
    units.parse_rate_bit_s,
    units.parse_fraction,
    units.parse_packets,
    units.parse_mean_packets,
]


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (units.parse_duration_ns, "12 ms", 12_000_000),
        (units.parse_duration_ns, "0.1 ms", 100_000),
        (units.parse_duration_ns, "80s", 80_000_000_000),
        (units.parse_duration_ns, "1.5 us", 1_500),
        (units.parse_duration_ns, "2 min", 120_000_000_000),
        (units.parse_duration_ns, "0 s", 0),
        (units.parse_duration_ns, " +5  ms ", 5_000_000),
        (units.parse_duration_s, "0.3 s", 0.3),
        (units.parse_duration_s, "12 ms", 0.012),
        (units.parse_size_bytes, "400 B", 400),
        (units.parse_size_bytes, "1.5 MB", 1_500_000),
        (units.parse_size_bytes, "2 KiB", 2_048),
        (units.parse_rate_bit_s, "20 Mbit/s", 20_000_000),
        (units.parse_rate_bit_s, "0.001 kbit/s", 1),
        (units.parse_fraction, "1 %", 0.01),
        (units.parse_fraction, "100 %", 1.0),
        (units.parse_fraction, "0.07%", 0.0007),
        (units.parse_packets, "200 packets", 200),
        (units.parse_packets, "1 packet", 1),
        (units.parse_mean_packets, "2.5 packets", 2.5),
    ],
)
def test_exact_values(parse, text, value):
    assert parse(text) == value


@pytest.mark.parametrize(
    ("parse", "text", "says"),
    [
        (units.parse_duration_ns, "80 sek", "unknown unit 'sek'"),
        (units.parse_duration_ns, "80 sek", "ns, us, ms, s, min, h"),
        (units.parse_duration_ns, "80 S", "unknown unit"),
        (units.parse_duration_ns, "80", "no unit"),
        (units.parse_duration_ns, 80, "no unit"),
        (units.parse_duration_ns, 0.5, "no unit"),
        (units.parse_duration_ns, "-1 s", "negative"),
        (units.parse_duration_ns, "0.1 ns", "finer than 1 ns"),
        (units.parse_duration_ns, "1e3 ms", "unknown unit 'e3 ms'"),
        (units.parse_duration_ns, "ms", "not a duration"),
        (units.parse_duration_ns, "", "not a duration"),
        (units.parse_duration_ns, "\N{ARABIC-INDIC DIGIT ONE} s", "not a duration"),
        (units.parse_duration_ns, "1 s\n2 s", "unknown unit"),
        (units.parse_duration_ns, True, "not a duration"),
        (units.parse_duration_ns, None, "not a duration"),
        (units.parse_duration_ns, ["1 s"], "not a duration"),
        (units.parse_duration_ns, "9999999999999 s", "not a duration"),
        (units.parse_size_bytes, "1 KB", "B, kB, MB, GB, KiB, MiB"),
        (units.parse_size_bytes, "0.5 B", "finer than 1 B"),
        (units.parse_rate_bit_s, "20 Mbps", "bit/s, kbit/s, Mbit/s, Gbit/s"),
        (units.parse_fraction, "0.01", "no unit"),
        (units.parse_fraction, "100.1 %", "more than 100 %"),
        (units.parse_packets, "1.5 packets", "finer than 1 packet"),
    ],
)
def test_complaints_name_what_is_valid(parse, text, says):
    with pytest.raises(ValueError, match="valid: ") as caught:
        parse(text)
    assert says in str(caught.value)


@given(st.one_of(st.text(), st.integers(), st.floats(), st.from_regex(r"[-+]?[0-9.]{1,30} ?(ms|B|%|bit/s|packets|x)?")))
def test_any_value_is_a_number_of_0_or_more_or_a_value_error(value):
    for parse in PARSERS:
        with suppress(ValueError):
            assert parse(value) >= 0


@given(st.integers(0, 10**12 - 1), st.integers(0, 999))
def test_milliseconds_with_decimals_are_exact(whole, thousandths):
    assert units.parse_duration_ns(f"{whole}.{thousandths:03d} ms") == whole * 1_000_000 + thousandths * 1_000
