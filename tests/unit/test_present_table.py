# SPDX-License-Identifier: Apache-2.0
"""The closing table, letter by letter."""

from dataclasses import replace
from pathlib import Path

from pathwarp.present.table import render
from pathwarp.results.reading import TrialResult

GOLDEN = Path(__file__).parents[1] / "golden"
KEY = "affected_burst_completion_time_ms"


def trials(variant: str, traffic: str, values: list[float | None], unhit: int = 0) -> list[TrialResult]:
    made = [
        TrialResult("path-failure", variant, traffic, seed, {"affected_burst": 95, KEY: value})
        for seed, value in enumerate(values, 1)
    ]
    start = len(made) + 1
    return made + [
        TrialResult("path-failure", variant, traffic, seed, {"affected_burst": None, KEY: None})
        for seed in range(start, start + unhit)
    ]


def check(name: str, text: str) -> None:
    assert text == (GOLDEN / name).read_text(encoding="utf-8")


def test_table_of_several_variants_and_traffics() -> None:
    results = [
        *trials("tlp-std", "docs", [464.2, 465.9, 463.8, 466.4]),
        *trials("tlp-mp", "docs", [252.1, 253.8, 251.9, 254.0]),
        *trials("tcp", "docs", [None, None, None, None]),
        *trials("tlp-std", "netflix", [1210.5, None, 1377.25], unhit=1),
        *trials("tlp-mp", "netflix", [1011.0, 990.4, 1102.7], unhit=1),
    ]
    check("table.txt", render(results, KEY, baseline="tlp-std", path="results/path-failure"))


def test_one_trial_and_no_baseline() -> None:
    text = render(trials("tlp-mp", "docs", [252.125]), KEY, baseline="tlp-std", path="results/path-failure")
    check("table-one-trial.txt", text)


def test_what_is_predicted_stands_beside_what_was_measured() -> None:
    results = [*trials("tlp-std", "docs", [464.0]), *trials("tlp-mp", "docs", [232.0]), *trials("tcp", "docs", [None])]
    told = [replace(trial, predicted_ms=one) for trial, one in zip(results, (463.5, 232.002, 300.0), strict=True)]
    head, *rows = render(told, KEY, baseline="tlp-std").splitlines()[2:6]
    assert "95 % interval  predicted, ms  difference, ms  change, ms" in head
    assert [row.split()[5:7] for row in rows] == [["463.5", "+0.500"], ["232.0", "-0.002"], ["-", "-"]]
    assert rows[1].split()[7] == "-232.0"
    assert "predicted" not in render(told, "goodput_mbps", baseline="tlp-std")
    assert "predicted, ms" in render(told[1:2], KEY)


def test_one_pair() -> None:
    results = [*trials("tlp-std", "docs", [464.0]), *trials("tlp-mp", "docs", [232.0])]
    row = render(results, KEY, baseline="tlp-std").splitlines()[4]
    assert row.split() == ["tlp-mp", "docs", "1", "232.0", "-", "-232.0", "-", "-50.0", "-", "0"]


def test_never_prints_nan_or_minus_zero() -> None:
    results = [*trials("tlp-std", "docs", [100.0, 100.0]), *trials("rto", "docs", [100.0, 100.0])]
    text = render([*results, *trials("tcp", "docs", [None])], KEY, baseline="tlp-std")
    assert "nan" not in text.lower() and "-0.0" not in text and "inf" not in text.lower()


def test_traffic_without_the_baseline_has_no_change() -> None:
    results = [
        *trials("tlp-std", "docs", [464.0, 465.0]),
        *trials("tlp-mp", "docs", [252.0, 253.0]),
        *trials("tlp-mp", "maps", [300.0, 301.0]),
    ]
    lines = render(results, KEY, baseline="tlp-std").splitlines()
    assert lines[5].split() == ["tlp-mp", "maps", "2", "300.5", "294.1", "to", "306.9", "-", "0"]


def test_units_come_from_the_metric() -> None:
    results = [TrialResult("greedy", "rto", "bulk", 1, {"goodput_mbps": 17.25, "reinjection_rate": 0.0228})]
    assert "mean, Mbit/s" in render(results, "goodput_mbps")
    assert "17.25" in render(results, "goodput_mbps")
    text = render(results, "reinjection_rate")
    assert "reinjection rate" in text and "0.0228" in text


def test_all_lines_are_flush_and_end_without_blanks() -> None:
    text = render(trials("tlp-mp", "docs", [252.0, 253.0]), KEY, path="results/path-failure")
    assert all(line == line.rstrip() for line in text.splitlines())
    assert text.endswith("results: results/path-failure\n")
