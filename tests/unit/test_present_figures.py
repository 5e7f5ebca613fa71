# SPDX-License-Identifier: Apache-2.0
"""Bars and histograms: what they say, that they are written, and that the same input is the same file."""

from pathlib import Path

import pytest

from pathwarp.base.complaints import Complaint, Complaints
from pathwarp.model.schema.scenario import Scenario
from pathwarp.model.schema.variant import ResolvedVariant, Variant, resolve
from pathwarp.present import bars, figures, histogram
from pathwarp.present.looks import SPARE_COLOURS, looks_of
from pathwarp.results.reading import TrialResult

KEY = "affected_burst_completion_time_ms"
SCENARIO = Scenario.model_validate(
    {
        "name": "path-failure",
        "title": "WLAN fails while both subflows are up",
        "topology": "wlan-4g",
        "traffic": ["docs"],
        "variants": ["tlp-std", "tlp-mp"],
        "baseline": "tlp-std",
        "runs": 3,
        "duration": "180 s",
        "scheduler": "minrtt",
        "preferred-path": "wlan",
        "metrics": [KEY],
    }
)


def trial(variant: str, seed: int, value: float | None, **metrics: object) -> TrialResult:
    metrics = {"affected_burst": 90 + seed, "loss_position_fraction": 1.0, KEY: value} | metrics
    return TrialResult("path-failure", variant, "docs", seed, metrics)


TRIALS = {
    "tlp-std": [trial("tlp-std", 1, 464.0), trial("tlp-std", 2, 466.0), trial("tlp-std", 3, None)],
    "tlp-mp": [trial("tlp-mp", 1, 252.0), trial("tlp-mp", 2, 254.0), trial("tlp-mp", 3, 250.0)],
    "my-own": [trial("my-own", seed, 300.0) for seed in (1, 2, 3)],
}


def variant(name: str, colour: str | None = None, **more: str) -> ResolvedVariant:
    data = {"name": name, "title": "t", "source": "s", **more} | ({"colour": colour} if colour else {})
    return resolve([Variant.model_validate(data)])


VARIANTS = [variant("tlp-std", "#E69F00"), variant("tlp-mp", "#0072B2"), variant("my-own")]
LOOKS = looks_of(VARIANTS)


def draw_bars(out_dir: Path) -> list[Path]:
    return bars.draw(TRIALS, LOOKS, KEY, "Docs traffic: completion", "3 traces · a title", out_dir, "bars-docs")


def test_bars_are_svg_and_png_with_title_means_and_crosses(tmp_path: Path) -> None:
    svg, png = draw_bars(tmp_path / "not" / "there")
    assert (svg.suffix, png.suffix) == (".svg", ".png")
    assert png.read_bytes().startswith(b"\x89PNG")
    text = svg.read_text()
    for words in (
        "Docs traffic: completion",
        "3 traces · a title",
        "affected burst completion time, ms",
        "tlp-std 465.0",
        "tlp-mp 252.0",
        "my-own 300.0",
        "never completed",
    ):
        assert f">{words}<" in text, words


def test_files_are_the_same_bytes_and_have_no_date(tmp_path: Path) -> None:
    first, second = draw_bars(tmp_path / "a"), draw_bars(tmp_path / "b")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert "date" not in first[0].read_text()


def test_a_variants_own_colour_does_not_depend_on_the_others() -> None:
    alone = looks_of(VARIANTS[1:2])["tlp-mp"]
    assert LOOKS["tlp-mp"] == alone
    assert alone.bar == {"facecolor": "#0072B2"}


def test_variants_without_a_colour_get_different_spare_ones_and_a_hatch() -> None:
    bars_of = [look.bar for look in looks_of([VARIANTS[0], variant("one"), variant("two")]).values()]
    assert [bar["facecolor"] for bar in bars_of] == ["#E69F00", *SPARE_COLOURS[:2]]
    assert ["hatch" in bar for bar in bars_of] == [False, True, True]


def test_the_label_is_the_name_unless_the_file_has_one_of_its_own() -> None:
    labelled = [variant("rej-k1", label="K = 1"), variant("a", label="same"), variant("b", label="same"), variant("c")]
    assert [look.label for look in looks_of(labelled).values()] == ["K = 1", "a", "b", "c"]


def test_figures_have_labels_and_text_is_no_formula(tmp_path: Path) -> None:
    looks = looks_of([*VARIANTS[1:], variant("tlp-std", "#E69F00", label="cost: $1 to $x^$")])
    svg, _ = bars.draw(TRIALS, looks, KEY, "Costs $x^$", "", tmp_path, "bars-docs")
    text = svg.read_text()
    assert ">cost: $1 to $x^$ 465.0<" in text and ">Costs $x^$<" in text and "tlp-std" not in text


def test_tenths() -> None:
    assert histogram.tenths([0, 0.05, 0.1, 0.3, 0.7, 0.99, 1.0, None]) == [2, 1, 0, 1, 0, 0, 0, 1, 0, 2]
    assert histogram.tenths([]) == [0] * 10


def test_histogram_says_what_it_counts(tmp_path: Path) -> None:
    svg, png = histogram.draw(TRIALS, LOOKS, "Docs traffic: where", "3 traces", tmp_path, "loss")
    assert png.exists()
    assert "position of the first lost packet in its burst" in svg.read_text()


def test_a_folder_that_cannot_be_written_is_a_complaint(tmp_path: Path) -> None:
    (tmp_path / "figures").write_text("a file")
    with pytest.raises(Complaints, match="cannot be written"):
        draw_bars(tmp_path / "figures")


def test_typical_pair_is_the_one_in_the_middle() -> None:
    variant = [trial("tlp-mp", 1, 100.0), trial("tlp-mp", 2, 260.0), trial("tlp-mp", 3, 250.0)]
    baseline = [trial("tlp-std", seed, 460.0) for seed in (1, 2, 3)]
    assert [t.seed for t in figures.typical(baseline, variant, KEY)] == [3, 3]
    assert [t.seed for t in figures.typical((), variant, KEY)] == [3]


def test_typical_needs_the_same_burst_and_prefers_complete_ones() -> None:
    baseline = [trial("tlp-std", 1, 460.0), trial("tlp-std", 2, 461.0)]
    other_burst = [trial("tlp-mp", 1, 250.0, affected_burst=3), trial("tlp-mp", 2, 251.0)]
    assert [t.seed for t in figures.typical(baseline, other_burst, KEY)] == [2, 2]
    never = [trial("tcp", 1, None), trial("tcp", 2, None)]
    assert [t.seed for t in figures.typical(baseline, never, KEY)] == [1, 1]
    assert figures.typical(baseline, [trial("tlp-mp", 1, None, affected_burst=None)], KEY) == ()


def test_all_figures_of_a_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    monkeypatch.setattr(figures, "read_recovery", lambda result: drawn.append((result.variant, result.seed)))
    results = [*TRIALS["tlp-std"], *TRIALS["tlp-mp"]]
    written = figures.draw_figures(SCENARIO, VARIANTS, results, tmp_path, [])
    names = [f"{figure}-docs.{kind}" for figure in ("bars", "loss-position") for kind in ("svg", "png")]
    assert [path.name for path in written] == names
    assert drawn == [("tlp-std", 1), ("tlp-mp", 1)]
    assert "3 traces · WLAN fails while both subflows are up" in written[0].read_text()


def test_the_baseline_alone_has_a_diagram_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    monkeypatch.setattr(figures, "read_recovery", lambda result: drawn.append((result.variant, result.seed)))
    figures.draw_figures(SCENARIO, VARIANTS, TRIALS["tlp-std"], tmp_path, [])
    assert drawn == [("tlp-std", 1)]


def test_unusable_captures_cost_their_diagram_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def recovery(result: TrialResult) -> None:
        raise Complaints.one(f"{result.variant}/captures/a.pcap", "damaged since it was sealed")

    monkeypatch.setattr(figures, "read_recovery", recovery)
    complaints: list[Complaint] = []
    written = figures.draw_figures(SCENARIO, VARIANTS, [*TRIALS["tlp-std"], *TRIALS["tlp-mp"]], tmp_path, complaints)
    assert len(written) == 4
    assert [complaint.where for complaint in complaints] == ["tlp-std/captures/a.pcap"]
