# SPDX-License-Identifier: Apache-2.0
"""Workload files: what they may say, and what is said about those that are wrong."""

from pathlib import Path

import pytest

from pathwarp.catalogue import WORKLOAD, Catalogue
from pathwarp.faults import Faults
from pathwarp.load import load_workload
from pathwarp.schema.explain import read_model
from pathwarp.schema.workload import Workload
from pathwarp.yamlfile import parse

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


def load(text: str) -> Workload:
    return read_model(Workload, parse(text, "traffic/web.yaml"))


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
def test_fault_says_where_and_what(old, new, where, what):
    with pytest.raises(Faults) as caught:
        load(GOOD.replace(old, new))
    assert any(where in fault.where and what in fault.what for fault in caught.value.faults), str(caught.value)


@pytest.mark.parametrize("name", ["docs", "maps", "netflix"])
def test_own_workloads_load(name):
    catalogue = Catalogue(ROOT)
    assert name in catalogue.names(WORKLOAD)
    workload = load_workload(catalogue, name)
    assert (workload.traces.count, workload.traces.duration_ns, workload.packet_bytes) == (30, 180 * 10**9, 1400)
