# SPDX-License-Identifier: Apache-2.0
"""Figures and the table over the points of a grid."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from test_present_figures import KEY, SCENARIO, VARIANTS

from pathwarp.model.schema.variant import ResolvedVariant
from pathwarp.present.figures import draw_figures
from pathwarp.present.table import render
from pathwarp.results.reading import TrialResult

LOSSES, ROUND_TRIPS, RATES = ("last", "probe too", "all"), ("12 ms", "40 ms"), ("5:1", "1:5")
SHOWN: list[ResolvedVariant] = VARIANTS[:2]


def results(*axes: tuple[str, tuple[str, ...]], seeds: int = 2) -> list[TrialResult]:
    """Trials at each point, but for the last one's of `tlp-mp`, whose bursts never complete."""
    points: list[tuple[tuple[str, str], ...]] = [()]
    for axis, values in axes:
        points = [(*point, (axis, value)) for point in points for value in values]
    found = []
    for number, point in enumerate(points):
        for place, variant in enumerate(("tlp-std", "tlp-mp")):
            for seed in range(1, seeds + 1):
                never = place == 1 and number == len(points) - 1
                metrics = {"affected_burst": 4, KEY: None if never else 200.0 + 50 * number - 40 * place + 3 * seed}
                found.append(TrialResult(f"cut@{number}", variant, "docs", seed, metrics, point=point))
    return found


def texts(svg: Path) -> str:
    return svg.read_text(encoding="utf-8")


def test_lines_over_one_axis(tmp_path: Path) -> None:
    svg, png = draw_figures(SCENARIO, SHOWN, results(("lost", LOSSES)), tmp_path, [])
    assert (svg.name, png.name) == ("grid-docs.svg", "grid-docs.png")
    said = texts(svg)
    assert all(f">{word}<" in said for word in (*LOSSES, "lost", *(variant.label for variant in SHOWN)))
    assert draw_figures(SCENARIO, SHOWN, results(("lost", LOSSES)), tmp_path / "again", [])[0].read_bytes() == (
        svg.read_bytes()
    )


def test_maps_over_two_axes_of_one_scale(tmp_path: Path) -> None:
    trials = results(("rtt", ROUND_TRIPS), ("lost", LOSSES), seeds=1)
    svg, _, change, _ = draw_figures(SCENARIO, SHOWN, trials, tmp_path, [])
    said = texts(svg)
    # 6 points of two variants, one of which has no value.
    assert [f">{200 + 50 * number + 3}<" in said for number in range(6)] == [True] * 6
    assert [f">{160 + 50 * number + 3}<" in said for number in range(6)] == [True] * 5 + [False]
    # What the other variant has more than the baseline, where it has a value.
    assert change.name == "grid-docs-change.svg"
    assert texts(change).count(">-40<") == 5


def test_predicted_lines_beside_the_map(tmp_path: Path) -> None:
    trials = [
        replace(trial, predicted_ms=trial.value(KEY)) for trial in results(("rtt", ROUND_TRIPS), ("lost", LOSSES))
    ]
    written = draw_figures(SCENARIO, SHOWN, trials, tmp_path, [])
    svgs = [path for path in written if path.suffix == ".svg"]
    assert [path.name for path in svgs] == [f"grid-docs{what}.svg" for what in ("", "-change", "-12ms", "-40ms")]
    said = texts(svgs[2])
    assert "points: measured, lines: predicted" in said
    assert all(f">{word}<" in said for word in LOSSES)


def test_many_maps_stand_in_rows(tmp_path: Path) -> None:
    many = [*VARIANTS, *(replace(VARIANTS[0], name=f"more-{number}", label=f"more {number}") for number in range(4))]
    metrics = {"affected_burst": 4, KEY: 20.0}
    points = (("rtt", "12 ms"), ("lost", "last")), (("rtt", "40 ms"), ("lost", "all"))
    trials = [TrialResult("cut", variant.name, "docs", 1, metrics, point=at) for variant in many for at in points]
    svg, *_ = draw_figures(SCENARIO, many, trials, tmp_path, [])
    assert [texts(svg).count(f">{variant.label}<") for variant in many] == [1] * 7
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', texts(svg))
    assert found
    width, height = map(float, found.groups())
    # Three beside each other, in three rows.
    assert width < 72 * 9 and height > 72 * 4


def test_a_figure_for_each_value_of_a_third_axis(tmp_path: Path) -> None:
    written = draw_figures(
        SCENARIO, SHOWN, results(("rate", RATES), ("rtt", ROUND_TRIPS), ("lost", LOSSES)), tmp_path, []
    )
    assert [path.name for path in written if path.suffix == ".svg"] == [
        f"grid-docs-{rate}{what}.svg" for rate in ("5-1", "1-5") for what in ("", "-change")
    ]


def test_an_axis_of_one_value_is_no_axis(tmp_path: Path) -> None:
    (svg, _) = draw_figures(SCENARIO, SHOWN, results(("rtt", ("12 ms",)), ("lost", LOSSES)), tmp_path, [])
    assert ">12 ms<" not in texts(svg)


@pytest.mark.parametrize("path", ["results/cut"])
def test_the_table_has_a_column_for_each_axis_and_compares_within_a_point(path: str) -> None:
    text = render(results(("rtt", ROUND_TRIPS), ("lost", LOSSES[:2])), KEY, "tlp-std", path)
    head, first, second, *_ = text.splitlines()[2:]
    assert text.startswith("cut: ")
    assert head.split("  ")[0].split() == ["rtt"]
    assert first.split()[:7] == ["12", "ms", "last", "tlp-std", "docs", "2", "204.5"]
    assert second.split()[:7] == ["12", "ms", "last", "tlp-mp", "docs", "2", "164.5"]
    assert "-40.0" in second
    assert "40 ms, probe too, tlp-mp, docs" in text
