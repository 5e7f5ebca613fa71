# SPDX-License-Identifier: Apache-2.0
"""Jitter from a topology to the guest's orders, and from these to `tc` lines, tables and seeds."""

import importlib
import statistics
import sys

import pytest
from golden_project import GOLDEN, copy_project
from inputs_of_trial import RELEASE, id_of

from pathwarp.model.overrides import read_overrides
from pathwarp.model.schema.jitter import LOWEST, Jitter
from pathwarp.plan.orders import plan_of
from pathwarp.plan.request import Request, plan_trials

GUEST = GOLDEN.parents[1] / "pathwarp/guest"
DOWN = "topology.paths.near.down.jitter"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return copy_project(tmp_path_factory.mktemp("jitter") / "project", GOLDEN / "project")


@pytest.fixture(scope="module")
def guest():
    """The guest's modules, found as in the guest."""
    names = ("shaping", "namespaces", "draws")
    sys.path.insert(0, str(GUEST))
    try:
        yield {name: importlib.import_module(name) for name in names}
    finally:
        sys.path.remove(str(GUEST))
        for name in names:
            sys.modules.pop(name)


def trial(project, *overrides):
    complaints: list = []
    chosen = read_overrides(overrides, complaints)
    assert not complaints
    return plan_trials(Request(project, "cut", ("plain",), overrides=chosen, runs=1))[0]


def shapes(project, *overrides):
    down, up, *_ = plan_of(trial(project, *overrides), RELEASE)["network"]["shapes"]
    return down["shape"], up["shape"]


def test_a_direction_has_its_own(project):
    down, up = shapes(project, f"{DOWN}={{spread: 1 ms, kind: pareto, memory: 25 %, reorder: yes}}")
    assert down["jitter"] == {"spread_ns": 1_000_000, "kind": "pareto", "memory": 0.25, "reorder": True}
    assert "jitter" not in up
    down, _ = shapes(project, f"{DOWN}={{spread: 1 ms, kind: normal}}")
    assert down["jitter"] == {"spread_ns": 1_000_000, "kind": "normal", "memory": 0.0, "reorder": False}


def test_no_spread_is_no_jitter(project):
    assert shapes(project, f"{DOWN}={{spread: 0 ms, kind: normal}}") == shapes(project)


def test_no_more_than_netem_takes():
    Jitter.model_validate({"spread": "370 ms", "kind": "pareto"}).check_delay(10**9)
    with pytest.raises(ValueError, match="has a jitter that netem would cut"):
        Jitter.model_validate({"spread": "371 ms", "kind": "pareto"}).check_delay(10**9)


def test_it_is_in_the_trial_id(project):
    each = ("{spread: 1 ms, kind: normal}", "{spread: 1001 us, kind: normal}", "{spread: 1 ms, kind: uniform}")
    assert len({id_of(trial(project, *chosen)) for chosen in ([], *([f"{DOWN}={one}"] for one in each))}) == 4


def test_tc_lines(project, guest):
    shaping = guest["shaping"]
    down, _ = shapes(project, f"{DOWN}={{spread: 1 ms, kind: normal}}")
    outer = "qdisc replace dev client root handle 1: netem limit 30 rate 12000000bit"
    inner = "qdisc replace dev client parent 1:1 handle 20: netem limit 30 delay 10000.000us"
    assert shaping.lines("client", down, 1500, fresh=True) == [outer, inner]
    assert shaping.lines("client", down, 1500, fresh=False) == [outer]
    assert shaping.qdiscs(down) == 2
    following = {**down, "adapts": True}
    assert shaping.lines("client", following, 1500, fresh=True)[2:] == [
        "qdisc replace dev client parent 1:1 handle 10: netem limit 30 rate 100gbit",
        "qdisc replace dev client parent 10:1 handle 20: netem limit 30 delay 10000.000us",
    ]
    assert shaping.qdiscs(following) == 3


@pytest.mark.parametrize(("kind", "third"), [("normal", 0.0), ("uniform", 0.0), ("pareto", None)])
def test_a_table_has_the_spread_and_the_shape(guest, kind, third):
    """netem takes an entry of the table as 8192ths of the jitter that it is told."""
    spread_ns = 1_000_000
    wide_ns, cells = guest["draws"].table(kind, spread_ns)
    values = [wide_ns * cell / 8192 for cell in cells]
    assert len(cells) == 4096
    assert all(-32768 <= cell <= 32767 for cell in cells)
    assert values == sorted(values)
    # Rounded to a 32767th of the longest delay.
    assert statistics.fmean(values) == pytest.approx(0, abs=max(values) / 32767)
    assert statistics.pstdev(values) == pytest.approx(spread_ns, rel=1e-5)
    assert -LOWEST[kind] * spread_ns <= min(values) < -0.98 * LOWEST[kind] * spread_ns
    if third is not None:
        assert statistics.fmean(value**3 for value in values) / spread_ns**3 == pytest.approx(third, abs=1e-3)


def test_quantiles(guest):
    quantile = guest["draws"].quantile
    assert quantile("normal", 0.975) == pytest.approx(1.959964, abs=1e-6)
    assert quantile("uniform", 0.3) == 0.3
    # A Pareto variable of shape 3 is above twice its least value in one case of eight.
    assert quantile("pareto", 0.875) == pytest.approx(2)


def test_each_link_has_its_own_seed(guest):
    seed_of = guest["draws"].seed_of
    cases = [(1, "left", "client", 0), (2, "left", "client", 0), (1, "right", "client", 0), (1, "left", "server", 0)]
    seeds = [seed_of(*case) for case in [*cases, (1, "left", "client", 1)]]
    assert len(set(seeds)) == 5
    assert all(0 <= seed < 2**64 for seed in seeds)
    assert seed_of(*cases[0]) == seeds[0]


def test_what_netem_is_told(guest, monkeypatch):
    """The whole message: a fresh link gets a seed and a table, another one goes on with those that it has."""
    draws = guest["draws"]
    told = []
    monkeypatch.setattr(draws, "inside", lambda pid: __import__("contextlib").nullcontext())
    monkeypatch.setattr(draws, "_change", lambda interface, options: told.append((interface, options)))
    jitter = {"spread_ns": 1_000_000, "kind": "uniform", "memory": 0.25, "reorder": False}
    shape = {"limit_packets": 30, "delay_ns": 10_000_000, "jitter": jitter}
    links = draws.Draws(7)
    words = links.give("left", 1, "client", shape, fresh=True)
    assert words == [f"draws dev client uniform seed {draws.seed_of(7, 'left', 'client', 0)}"]
    assert links.give("left", 1, "client", shape, fresh=False) == []
    assert links.give("left", 1, "client", {"limit_packets": 30}, fresh=True) == []
    again = links.give("left", 1, "client", {**shape, "jitter": {**jitter, "reorder": True}}, fresh=True)
    assert again == [f"draws dev client uniform seed {draws.seed_of(7, 'left', 'client', 1)}"]
    kinds = [set(attributes(options[24:])) for _, options in told]
    delay, order, chance = {10, 11}, {6, 8}, {1, 2, 14}
    assert kinds == [delay | order | chance, delay | order, delay | chance]
    found = attributes(told[0][1][24:])
    assert int.from_bytes(found[10], "little") == 10_000_000
    assert int.from_bytes(found[1][:4], "little") == round(0.25 * (2**32 - 1))
    assert len(found[2]) == 2 * 4096


def attributes(options: bytes) -> dict[int, bytes]:
    found, at = {}, 0
    while at < len(options):
        size, kind = (int.from_bytes(options[at + 2 * i : at + 2 * i + 2], "little") for i in (0, 1))
        found[kind] = options[at + 4 : at + size]
        at += -(-size // 4) * 4
    return found
