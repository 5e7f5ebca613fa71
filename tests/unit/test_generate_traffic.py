# SPDX-License-Identifier: Apache-2.0
"""Traces drawn from distributions, and those that are in the repository."""

import math
from itertools import islice
from pathlib import Path
from statistics import NormalDist, fmean, median

import pytest

from pathwarp.base.shares import shares
from pathwarp.base.yamlfile import parse
from pathwarp.commands.traffic import read_traces
from pathwarp.generate.traffic.generate import SIZE_STREAM, _draws, generate
from pathwarp.generate.traffic.summary import COLUMNS, rows
from pathwarp.model.catalogue import Catalogue
from pathwarp.model.load import load_workload, trace_path
from pathwarp.model.schema.explain import read_model
from pathwarp.model.schema.workload import BurstWorkload
from pathwarp.model.traces import write_csv

ROOT = Path(__file__).parents[2]
CATALOGUE = Catalogue(ROOT)
NAMES = ["docs", "maps", "netflix"]
TEXT = """\
name: test
title: Test
source: made up
kind: bursts
packet: 1400 B
traces: {count: 2, duration: 10 s, seed: 7}
gap: {kind: uniform, min: 100 ms, max: 300 ms}
size: SIZE
"""


def workload(size: str = "{kind: constant, value: 1 kB}") -> BurstWorkload:
    return read_model(BurstWorkload, parse(TEXT.replace("SIZE", size), "traffic/test.yaml"))


def sizes(text: str, count: int = 4000) -> list[float]:
    return list(islice(_draws(workload(text).size_bytes, shares(7, 1, SIZE_STREAM)), count))


@pytest.mark.parametrize("name", NAMES)
def test_committed_traces_are_the_generators(name, tmp_path):
    loaded = load_workload(CATALOGUE, name)
    files = sorted(path.name for path in trace_path(CATALOGUE, name, 1).parent.iterdir())
    assert files == [f"{number:02d}.csv" for number in range(1, 31)]
    for number in range(1, 31):
        write_csv(tmp_path / "new.csv", generate(loaded, number))
        committed = trace_path(CATALOGUE, name, number)
        assert (tmp_path / "new.csv").read_bytes() == committed.read_bytes(), committed.name


@pytest.mark.parametrize(
    ("name", "packets", "size_bytes", "trace_bytes"),
    [
        ("docs", (1, 1), (200, 600), (60_000, 90_000)),
        ("maps", (29, 158), (40_000, 220_000), (4_000_000, 7_000_000)),
        ("netflix", (358, 1072), (500_000, 1_500_000), (35_000_000, 50_000_000)),
    ],
)
def test_committed_traces_are_what_the_paper_says(name, packets, size_bytes, trace_bytes):
    loaded = load_workload(CATALOGUE, name)
    traces = read_traces(CATALOGUE, loaded)
    assert all(trace.bursts[0].start_ms == 0 and trace.bursts[-1].start_ms < 180_000 for trace in traces)
    for burst in (burst for trace in traces for burst in trace.bursts):
        assert size_bytes[0] <= burst.size_bytes <= size_bytes[1]
        assert packets[0] <= math.ceil(burst.size_bytes / 1400) <= packets[1]
    assert all(trace_bytes[0] <= trace.size_bytes <= trace_bytes[1] for trace in traces)
    assert len({trace.bursts for trace in traces}) == 30


@pytest.mark.parametrize("name", NAMES)
def test_documented_figures_are_those_of_the_traces(name):
    loaded = load_workload(CATALOGUE, name)
    text = (ROOT / "docs" / "reference" / "traffic.md").read_text(encoding="utf-8")
    assert f"| {' | '.join(COLUMNS[1:])} |" in text
    for row in rows(read_traces(CATALOGUE, loaded), loaded.packet_bytes, 180):
        assert f"| {' | '.join(row)} |" in text


def test_traces_differ_by_number_and_only_by_it():
    assert generate(workload(), 1) == generate(workload(), 1)
    assert generate(workload(), 1) != generate(workload(), 2)


def test_another_size_leaves_the_starts():
    first, second = generate(workload(), 1), generate(workload("{kind: constant, value: 2 kB}"), 1)
    assert [burst.start_ms for burst in first.bursts] == [burst.start_ms for burst in second.bursts]


def test_raw_stream_is_the_one_the_traces_were_made_of():
    # If this fails and nothing here was changed, numpy's PCG64 or SeedSequence was: the traces cannot be made again.
    assert list(islice(shares(1901, 1, 1), 2)) == [0.11136174547033006, 0.029291474741236834]


def test_uniform():
    values = sizes("{kind: uniform, min: 1 kB, max: 3 kB}")
    assert 1000 <= min(values) < 1005 and 2995 < max(values) <= 3000
    assert fmean(values) == pytest.approx(2000, rel=0.02)


def test_exponential():
    values = sizes("{kind: exponential, mean: 10 kB, min: 24 B, max: 1 MB}")
    assert fmean(values) == pytest.approx(10_000, rel=0.05)
    assert median(values) == pytest.approx(10_000 * math.log(2), rel=0.05)


def test_lognormal():
    values = sizes("{kind: lognormal, median: 10 kB, spread: 0.5, min: 24 B, max: 1 MB}")
    assert median(values) == pytest.approx(10_000, rel=0.05)
    below = sum(value < 10_000 * math.exp(0.5) for value in values) / len(values)
    assert below == pytest.approx(NormalDist().cdf(1), abs=0.02)


def test_normal_is_cut_not_piled_up_at_its_ends():
    values = sizes("{kind: normal, mean: 1 kB, stddev: 1 kB, min: 500 B, max: 1500 B}")
    assert min(values) >= 500 and max(values) <= 1500
    assert len(set(values)) == len(values)
    assert fmean(values) == pytest.approx(1000, rel=0.02)


@pytest.mark.parametrize(
    "text",
    [
        "{kind: normal, mean: 1 kB, stddev: 1 B, min: 24 B, max: 1 GB}",
        "{kind: lognormal, median: 24 B, spread: 5, min: 24 B, max: 1 GB}",
        "{kind: exponential, mean: 24 B, min: 24 B, max: 1 GB}",
    ],
)
def test_extreme_parameters_stay_within_bounds(text):
    assert all(24 <= value <= 1_000_000_000 for value in sizes(text))
