# SPDX-License-Identifier: Apache-2.0
"""Traces of links to moving vehicles, and those that are in the repository."""

from itertools import islice, pairwise
from pathlib import Path
from statistics import fmean, stdev

import pytest
from click.testing import CliRunner

from pathwarp.base.complaints import Complaints
from pathwarp.base.shares import shares
from pathwarp.commands.mobility import command as mobility
from pathwarp.generate.mobility.drive import Journey, correlated, passes
from pathwarp.generate.mobility.generate import generate, levels_dbm
from pathwarp.generate.mobility.link import frame_loss, quality
from pathwarp.model.catalogue import Catalogue
from pathwarp.model.links.own import read_own
from pathwarp.model.load import load_mobility

ROOT = Path(__file__).parents[2]
CATALOGUE = Catalogue(ROOT)
MODEL = load_mobility(CATALOGUE, "vehicular")
FILES = sorted((ROOT / "topologies/traces/vehicular").iterdir())


def test_committed_traces_are_the_generators(tmp_path):
    assert [path.name for path in FILES] == [f"{number:02d}.csv" for number in range(1, 31)]
    result = CliRunner().invoke(mobility, ["generate", "vehicular", "--out", str(tmp_path)], obj=CATALOGUE)
    assert result.exit_code == 0, result.output
    for path in FILES:
        assert (tmp_path / "vehicular" / path.name).read_bytes() == path.read_bytes(), path.name


def test_committed_traces_are_passes_of_the_cell():
    for path in FILES:
        course = read_own(path.read_text().splitlines(), path.name)
        assert 18e9 < course.end_ns < 28e9, "200 m at 30 km/h are 24 s"
        last = course.at(course.end_ns)
        assert last.loss_fraction == 1
        assert course.at(course.end_ns - 1).loss_fraction < MODEL.cell.gone_fraction
        middle = [course.at(round(course.end_ns * share)) for share in (0.45, 0.5, 0.55)]
        assert min(step.rate_bit_s for step in middle) > 20_000_000
        assert all(20_000_000 <= step.delay_ns <= 32_000_000 for step in course.steps)


def test_laps_differ_and_do_not_depend_on_how_many_follow():
    traces = generate(MODEL)
    assert len(set(traces)) == 30
    fewer = MODEL.model_copy(update={"laps": MODEL.laps.model_copy(update={"count": 3})})
    assert generate(fewer) == traces[:3]


def test_the_drive_is_as_described():
    journey = Journey(MODEL, 60_000)
    speeds = [3.6 * (there - here) for here, there in pairwise(journey.way_m)]
    assert fmean(speeds) == pytest.approx(30, abs=0.5)
    assert stdev(speeds) == pytest.approx(2, abs=0.3)
    assert journey.when(journey.at(1234.5)) == pytest.approx(1234.5)
    for number, one in enumerate(passes(MODEL, journey), start=1):
        middle_m = (number - 0.5) * 2000
        assert one.lap == number
        assert journey.at(one.left_s) == pytest.approx(middle_m + 100)
        # Found by the first scan after entering, each second, and 500 ms for the address.
        assert 0.5 <= one.joined_s - journey.when(middle_m - 100) < 1.5
        assert one.joined_s % 1 == pytest.approx(0.5)


def test_correlation_is_as_asked():
    values = list(islice(correlated(0, 1, 0.6, shares(1)), 20_000))
    assert stdev(values) == pytest.approx(1, abs=0.02)
    assert fmean(a * b for a, b in pairwise(values)) == pytest.approx(0.6, abs=0.03)


def test_the_level_falls_with_the_distance():
    places = [float(place) for place in range(-100, 101)]
    laps = [levels_dbm(MODEL, lap, places) for lap in range(1, 300)]
    means = [fmean(levels) for levels in zip(*laps, strict=True)]
    assert means[100] == pytest.approx(23 - 47.3 - 30, abs=1)
    assert means[0] == pytest.approx(23 - 47.3 - 60.1, abs=1)
    assert stdev(levels[0] for levels in laps) == pytest.approx(4, abs=0.5)


def test_frames_are_lost_as_the_standard_says_at_a_rates_level():
    link, rate = MODEL.link, MODEL.link.rates[0]
    assert frame_loss(link, rate, rate.level_dbm) == pytest.approx(0.1)
    assert frame_loss(link, rate, rate.level_dbm - link.waterfall_db) == pytest.approx(0.9)
    assert frame_loss(link, rate, 1000) == pytest.approx(0)
    assert frame_loss(link, rate, -1000) == pytest.approx(1)


def test_a_better_level_never_makes_a_worse_link():
    seen = [quality(MODEL.link, level / 4) for level in range(-400, -120)]
    through = [one.rate_bit_s * (1 - one.loss_fraction) for one in seen]
    assert all(here <= there + 1e-6 for here, there in pairwise(through))
    assert seen[0].loss_fraction == pytest.approx(1)
    assert seen[0].delay_s == pytest.approx(0.020 + 6 * 0.002)
    assert seen[-1].rate_bit_s == pytest.approx(0.6 * 780e6)
    assert seen[-1].delay_s == pytest.approx(0.020)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("30 km/h ", "30 m ", "has the unknown unit 'm'"),
        ("variation: 2 km/h", "variation: 4 km/h", "may turn round"),
        ("length: 200 m", "length: 2 km", "as long as the circuit"),
        ("-82 dBm}", "-82 dB}", "has the unknown unit 'dB'"),
        ("shadowing: 4 dB", "shadowing: -4 dB", "is negative"),
        ("join: 500 ms", "joins: 500 ms", "is not a key here"),
    ],
)
def test_wrong_models(tmp_path, old, new, what):
    folder = tmp_path / "topologies/mobility"
    folder.mkdir(parents=True)
    text = (ROOT / "topologies/mobility/vehicular.yaml").read_text()
    assert old in text
    (folder / "vehicular.yaml").write_text(text.replace(old, new, 1))
    with pytest.raises(Complaints) as caught:
        load_mobility(Catalogue(tmp_path), "vehicular")
    assert any(what in complaint.what for complaint in caught.value.complaints), caught.value


def test_an_unknown_model_is_named():
    with pytest.raises(Complaints) as caught:
        load_mobility(CATALOGUE, "vehicle")
    assert "did you mean vehicular?" in str(caught.value)
