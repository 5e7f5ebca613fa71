# SPDX-License-Identifier: Apache-2.0
"""Box plots: the whiskers' rule, and what the figure says."""

import pytest

from pathwarp.present import boxes, table
from pathwarp.present.boxes import Box
from pathwarp.present.headline import by_headline
from pathwarp.present.looks import Look
from pathwarp.results.reading import TrialResult, values_of


def test_whiskers_end_at_the_last_measurement_inside():
    box = Box.of([1, 2, 3, 4, 5, 6, 7, 8, 9, 100])
    assert (box.q1, box.median, box.q3) == (3.25, 5.5, 7.75)
    assert (box.low, box.high, box.outliers) == (1, 9, (100,))


def test_a_measurement_at_the_limit_is_outside():
    """q3 + 1.5 (q3 - q1) = 4 + 1.5 x 2 = 7."""
    box = Box.of([0, 2, 3, 4, 7])
    assert (box.q1, box.q3, box.low, box.high, box.outliers) == (2, 4, 0, 4, (7,))


@pytest.mark.parametrize("values", [[5.0], [5.0, 5.0, 5.0]])
def test_equal_values_make_a_flat_box(values):
    assert Box.of(values) == Box(5, 5, 5, 5, 5, ())


def trial(variant: str, *increases: float | None, seed: int = 1) -> TrialResult:
    events = [
        {
            "event": number,
            "delay_increase_ms": value,
            "reinjection_rate": 0.01,
            "lost_packets": 5,
            "recovery_ms": value,
        }
        for number, value in enumerate(increases)
    ]
    metrics = {"loss_events": events, "burst_completion_time_ms": [], "delay_increase_ms": increases[0]}
    return TrialResult("on-off", variant, "cbr", seed, metrics)


TRIALS = {
    "tlp-std": [trial("tlp-std", 360.0, 380.0, 400.0, 420.0)],
    "rej-k1": [trial("rej-k1", 90.0, 100.0, None, 110.0)],
}
LOOKS = {name: Look(name, {"facecolor": colour}) for name, colour in zip(TRIALS, ("#E69F00", "#D55E00"), strict=True)}
RESULTS = [one for trials in TRIALS.values() for one in trials]


def test_values_are_by_seed_and_event():
    assert values_of(TRIALS["rej-k1"], "delay_increase_ms") == {(1, 0): 90, (1, 1): 100, (1, 2): None, (1, 3): 110}
    assert trial("pto", 7.0, seed=3).values("delay_increase_ms") == {(3, 0): 7}


def test_figure_shows_medians_and_the_published_ones(tmp_path):
    published = {"delay_increase_ms": {"tlp-std": 400.0}}
    metrics = ["delay_increase_ms", "reinjection_rate"]
    svg, png = boxes.draw(TRIALS, LOOKS, metrics, published, "A title", "4 loss events", tmp_path, "boxes-cbr")
    assert png.read_bytes().startswith(b"\x89PNG")
    text = svg.read_text()
    for words in ("A title", "4 loss events", "delay increase, ms", "390.0", "100.0", "published median", "rej-k1"):
        assert words in text
    again = boxes.draw(TRIALS, LOOKS, metrics, published, "A title", "4 loss events", tmp_path / "again", "boxes-cbr")
    assert [path.read_bytes() for path in again] == [svg.read_bytes(), png.read_bytes()]


def test_table_counts_loss_events():
    text = table.render(RESULTS, "delay_increase_ms", "tlp-std")
    lines = text.splitlines()
    assert lines[3].split()[:4] == ["tlp-std", "cbr", "4", "390.0"]
    assert lines[4].split()[:4] == ["rej-k1", "cbr", "3", "100.0"]
    assert lines[4].split()[-1] == "1"
    assert "paired by seed and loss event" in text
    assert "rej-k1, cbr: 1 of 4 pairs left out" in text


def test_metrics_of_bursts_apply_to_bursts_only():
    metrics = ("affected_burst_completion_time_ms", "delay_increase_ms")
    bursts = TrialResult("on-off", "tlp-std", "docs", 1, {"burst_completion_time_ms": [{}]})
    assert by_headline([*RESULTS, bursts], metrics) == {metrics[1]: RESULTS, metrics[0]: [bursts]}
