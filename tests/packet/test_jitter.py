# SPDX-License-Identifier: Apache-2.0
"""Links with jitter: each packet's delay is the one drawn for it, and order is kept where that is asked for."""

import statistics

import pytest
from conftest import run
from scipy.stats import kstest, norm, pareto, uniform
from transit import Link

from pathwarp.model.overrides import Override
from pathwarp.plan.request import Request, plan_trials

DOWN, UP = "topology.paths.wlan.down.jitter", "topology.paths.wlan.up.jitter"
SPREAD_NS = 1_000_000
CAPTURES = ("server-wlan", "client-wlan", "server-4g", "client-4g")


def jitter(kind: str, memory: str = "0 %", reorder: str = "no", spread: str = "1 ms") -> str:
    return f"{{spread: {spread}, kind: {kind}, memory: {memory}, reorder: {reorder}}}"


# What the links do, by a name for it.
LINKS = {
    "none": {},
    "still": {DOWN: jitter("normal", spread="0 ms"), UP: jitter("pareto", spread="0 ms")},
    "in-order": {DOWN: jitter("normal"), UP: jitter("uniform", "25 %")},
    "normal": {DOWN: jitter("normal", reorder="yes")},
    "uniform": {DOWN: jitter("uniform", reorder="yes")},
    "pareto": {DOWN: jitter("pareto", reorder="yes")},
    "memory": {DOWN: jitter("pareto", "25 %", "yes")},
}
# A Pareto variable of shape 3 and least value 1, in 4096 quantiles.
QUANTILES = [((cell + 0.5) / 4096) ** (-1 / 3) for cell in range(4096)]
LEAST_NS = SPREAD_NS / statistics.pstdev(QUANTILES)
DISTRIBUTIONS = {
    "normal": norm(0, SPREAD_NS),
    "uniform": uniform(-(3**0.5) * SPREAD_NS, 2 * 3**0.5 * SPREAD_NS),
    "pareto": pareto(3, -statistics.fmean(QUANTILES) * LEAST_NS, LEAST_NS),
}


def trials(root) -> dict:
    planned = {}
    for name, values in LINKS.items():
        overrides = tuple(sorted(Override(path, text) for path, text in values.items()))
        runs = 2 if name == "in-order" else 1
        for trial in plan_trials(Request(root, "unsteady", runs=runs, overrides=overrides)):
            planned[name, trial.seed] = trial
    return planned


@pytest.fixture(scope="module")
def seen(tmp_path_factory, make_project):
    """(name, seed, time) -> folder of a trial; the one in order was run twice."""
    root, other = (make_project(tmp_path_factory.mktemp(name)) for name in ("jitter", "again"))
    first = {(*key, 1): one.folder for key, one in run(root, trials(root)).items()}
    again = {("in-order", 1): trials(other)["in-order", 1]}
    return first | {(*key, 2): one.folder for key, one in run(other, again).items()}


@pytest.mark.parametrize(
    ("name", "way"),
    [("in-order", "down"), ("in-order", "up"), *((kind, "down") for kind in (*DISTRIBUTIONS, "memory"))],
)
def test_each_packet_arrives_when_the_draws_say(seen, name, way):
    link = Link(seen[name, 1, 1], "wlan", way)
    assert len(link.packets) > 4000
    assert link.mismatches() == []


@pytest.mark.parametrize("kind", DISTRIBUTIONS)
def test_the_draws_are_distributed_as_stated(seen, kind):
    drawn_ns = Link(seen[kind, 1, 1], "wlan", "down").drawn_ns
    # Of the trial's seed, so the same in every run.
    assert kstest(drawn_ns, DISTRIBUTIONS[kind].cdf).pvalue > 0.01
    other = next(one for name, one in DISTRIBUTIONS.items() if name != kind)
    assert kstest(drawn_ns, other.cdf).pvalue < 1e-6
    if kind != "pareto":
        assert statistics.pstdev(drawn_ns) == pytest.approx(SPREAD_NS, rel=0.03)


def test_memory_is_the_correlation_from_packet_to_packet(seen):
    held, free = (Link(seen[name, 1, 1], "wlan", "down") for name in ("memory", "pareto"))
    for link, share in ((held, 0.25), (free, 0.0)):
        pairs = list(zip(link.drawn_ns, link.drawn_ns[1:], strict=False))
        assert sum(abs(one - two) < 2048 for one, two in pairs) / len(pairs) == pytest.approx(share, abs=0.02)


def test_order_is_kept_or_not(seen):
    assert [Link(seen["in-order", 1, 1], "wlan", way).overtaken for way in ("down", "up")] == [0, 0]
    assert all(Link(seen[kind, 1, 1], "wlan", "down").overtaken > 50 for kind in DISTRIBUTIONS)


def captures(folder) -> list[bytes]:
    return [(folder / "captures" / f"{name}.pcap").read_bytes() for name in CAPTURES]


def test_the_same_seed_gives_the_same_bytes(seen):
    assert captures(seen["in-order", 1, 1]) == captures(seen["in-order", 1, 2])


def test_another_seed_draws_otherwise(seen):
    one, two = (Link(seen["in-order", seed, 1], "wlan", "down").drawn_ns for seed in (1, 2))
    assert sum(abs(a - b) < 2048 for a, b in zip(one, two, strict=False)) < 100


def test_without_spread_nothing_changes(seen):
    assert captures(seen["none", 1, 1]) == captures(seen["still", 1, 1])
