# SPDX-License-Identifier: Apache-2.0
"""Workload files: what they may say, and what is said about those that are wrong."""

from fractions import Fraction
from pathlib import Path

import pytest

from pathwarp.base.complaints import Complaints
from pathwarp.base.yamlfile import parse
from pathwarp.model.catalogue import WORKLOAD, Catalogue
from pathwarp.model.load import load_workload
from pathwarp.model.schema.explain import read_model
from pathwarp.model.schema.workload import BurstWorkload, ConstantWorkload

ROOT = Path(__file__).parents[2]
GOOD = """\
name: web
title: A page now and then
source: made up
kind: bursts
packet: 1400 B
traces: {count: 2, duration: 10 s, seed: 7}
gap: {kind: exponential, mean: 1 s, min: 10 ms, max: 9 s}
size: {kind: constant, value: 20 kB}
"""


def load(text: str) -> BurstWorkload:
    return read_model(BurstWorkload, parse(text, "traffic/web.yaml"))


def test_units_become_exact_integers():
    workload = load(GOOD)
    assert (workload.packet_bytes, workload.traces.duration_ns) == (1400, 10_000_000_000)
    assert (workload.gap_ns.mean, workload.size_bytes.value) == (1_000_000_000, 20_000)
    assert workload.generated


def test_recorded_workload_has_no_distributions():
    text = GOOD.replace(", seed: 7", "").split("gap:")[0]
    assert not load(text).generated


@pytest.mark.parametrize(
    ("old", "new", "where", "what"),
    [
        ("mean: 1 s", "mean: 1", "web.yaml:7: gap.mean", "has no unit"),
        ("mean: 1 s", "mean: -1 s", "web.yaml:7: gap.mean", "negative"),
        ("mean: 1 s", "mean: 1 B", "web.yaml:7: gap.mean", "unknown unit 'B'"),
        ("mean: 1 s", "mean: 20 s", "web.yaml:7: gap", "has a mean that is not from min to max"),
        ("min: 10 ms", "min: 9 s", "web.yaml:7: gap", "has a min that is not below its max"),
        ("min: 10 ms", "min: 0.5 ms", "web.yaml:7: gap", "has values below 1 ms"),
        ("min: 10 ms, ", "", "web.yaml:7: gap.min", "is missing"),
        ("mean: 1 s", "median: 1 s", "web.yaml:7: gap.median", "is not a key here"),
        ("exponential", "poisson", "web.yaml:7: gap", "unknown"),
        ("value: 20 kB", "value: 10 B", "web.yaml:8: size", "has values below 24 B"),
        ("packet: 1400 B", "packet: 70 kB", "web.yaml:5: packet", "too large"),
        ("seed: 7", "seed: -7", "web.yaml:6: traces.seed", "too small"),
        ("count: 2", "count: 200", "web.yaml:6: traces.count", "too large"),
        (", seed: 7", "", "web.yaml", "lacks traces.seed"),
        ("kind: bursts", "kind: greedy", "web.yaml:4: kind", "unknown"),
        ("name: web", "name: Web/1", "web.yaml:1: name", "is not a name"),
    ],
)
def test_complaint_says_where_and_what(old, new, where, what):
    with pytest.raises(Complaints) as caught:
        load(GOOD.replace(old, new))
    assert any(where in complaint.where and what in complaint.what for complaint in caught.value.complaints), str(
        caught.value
    )


@pytest.mark.parametrize("name", ["docs", "maps", "netflix"])
def test_own_workloads_load(name):
    catalogue = Catalogue(ROOT)
    assert name in catalogue.names(WORKLOAD)
    workload = load_workload(catalogue, name)
    assert (workload.traces.count, workload.traces.duration_ns, workload.packet_bytes) == (30, 180 * 10**9, 1400)


CONSTANT = """\
name: web
title: A stream
source: made up
kind: constant
packet: 1400 B
rate: 1800 packets/s
"""


def constant(rate: str) -> ConstantWorkload:
    return read_model(ConstantWorkload, parse(CONSTANT.replace("1800 packets/s", rate), "traffic/web.yaml"))


@pytest.mark.parametrize(
    ("rate", "packets_s", "packets_in_10_s"),
    [
        ("1800 packets/s", 1800, 18_000),
        ("1 packet/s", 1, 10),
        ("78 Mbit/s", Fraction(78_000_000, 11_200), 69_643),  # the last one at 9.9999 s
    ],
)
def test_constant_rate_in_packets_and_in_bits(rate, packets_s, packets_in_10_s):
    workload = constant(rate)
    assert workload.packets_s == packets_s
    assert workload.packets(10 * 10**9) == packets_in_10_s
    assert workload.traces is None
    assert not workload.generated


@pytest.mark.parametrize(
    ("rate", "what"),
    [
        ("1800", "has no unit"),
        ("1800 packets", "unknown unit 'packets'"),
        ("0 packets/s", "out of range"),
        ("1.5 packets/s", "finer than 1 packet/s"),
        ("2000000 packets/s", "out of range"),
        ("-1 Mbit/s", "negative"),
        ("[1]", "is not a rate"),
    ],
)
def test_wrong_rates_are_named(rate, what):
    with pytest.raises(Complaints) as caught:
        constant(rate)
    (complaint,) = caught.value.complaints
    assert "web.yaml:6: rate" in complaint.where
    assert what in complaint.what
    assert "packets/s" in complaint.valid


def test_constant_workload_has_no_traces():
    with pytest.raises(Complaints) as caught:
        read_model(ConstantWorkload, parse(CONSTANT + "traces: {count: 1, duration: 10 s}\n", "traffic/web.yaml"))
    assert caught.value.complaints[0].what == "is not a key here"


@pytest.mark.parametrize("name", ["cbr", "greedy"])
def test_own_streams_load(name):
    assert isinstance(load_workload(Catalogue(ROOT), name), ConstantWorkload)
