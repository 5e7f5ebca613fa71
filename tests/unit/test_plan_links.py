# SPDX-License-Identifier: Apache-2.0
"""Links that follow a trace: from files to the guest's orders, and what their trials depend on."""

import importlib.util
import json
import shutil

import pytest
from golden_project import GOLDEN, copy_project
from inputs_of_trial import RELEASE, id_of

from pathwarp.base.complaints import Complaint, Complaints
from pathwarp.model.overrides import read_overrides
from pathwarp.plan.orders import plan_of
from pathwarp.plan.request import Request, plan_trials

NONE = "events=[]"
SHOWN = (("rate_bit_s", 1000), ("delay_ns", 1_000_000))


@pytest.fixture
def project(tmp_path):
    return copy_project(tmp_path / "project", GOLDEN / "links")


@pytest.fixture(scope="module")
def shaping():
    path = GOLDEN.parents[1] / "pathwarp/guest/shaping.py"
    spec = importlib.util.spec_from_file_location("shaping", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def plan(project, *overrides, seed=1, runs=1):
    complaints: list[Complaint] = []
    chosen = read_overrides(overrides, complaints)
    assert not complaints
    return plan_trials(Request(project, "cut", ("plain",), overrides=chosen, seed=seed, runs=runs))


def orders(project, events="[]", path="near", seed=1):
    """Instant in s, kind and phase, and where it gives a shape the downlink's rate in kbit/s and delay in ms."""
    found = plan_of(plan(project, f"events={events}", seed=seed)[0], RELEASE)["events"]
    return [
        (
            one["at_s"],
            f"{one['kind']} {one['phase']}",
            *(step["shape"]["down"][key] // scale for step in one["steps"] if "shape" in step for key, scale in SHOWN),
        )
        for one in found
        if one["path"] == path
    ]


def shapes(project, seed=1):
    """Link and direction to the shape that it is set up with."""
    found = plan_of(plan(project, NONE, seed=seed)[0], RELEASE)["network"]["shapes"]
    return {(one["link"], one["direction"]): one["shape"] for one in found}


def test_the_plan_is_as_documented(project):
    """The golden file is what the plan of seed 1 says of shapes, with the scenario's own failure at 4 s."""
    expected = json.loads((GOLDEN / "plan-links.json").read_text())
    guest = plan_of(plan(project)[0], RELEASE)
    assert json.loads(json.dumps({key: guest[key] for key in ("network", "events")})) == expected


def test_a_seed_has_its_own_trace(project):
    assert orders(project, seed=1)[0] == (0.5, "trace begin", 6000, 12)
    assert orders(project, seed=2) == [(6.5, "trace begin", 500, 40)]
    assert orders(project, seed=3) == orders(project, seed=1)
    downs = [shapes(project, seed)["near", "down"] for seed in (1, 2)]
    assert [down["rate_bit_s"] for down in downs] == [12_000_000, 9_000_000], "a line at 0 is set up"


def test_a_change_wins_over_the_trace_for_what_it_names(project):
    assert orders(project, "[{at: 1 s, path: near, change: {rate: 1 Mbit/s}, until: 3 s}]") == [
        (0.5, "trace begin", 6000, 12),
        (1.0, "change begin", 1000, 12),
        (2.0, "trace begin", 1000, 20),
        (3.0, "change end", 3000, 20),
        (7.0, "trace begin", 1000, 30),
    ]


def test_a_change_of_rate_lets_held_packets_go(project):
    (setup, *rest) = orders(project, "[{at: 1 s, path: far, change: {rate: 1 Mbit/s}, until: 2 s}]", "far")
    assert setup == (1.0, "change begin", 1000, 40)
    assert rest[0] == (2.0, "change end", 6, 40), "held for 2 s from 1 s on: 1514 B in 2 s"


def test_while_a_path_is_down_its_trace_rests(project):
    assert orders(project, "[{at: 1900 ms, path: near, fail: blackhole, until: 8 s}]") == [
        (0.5, "trace begin", 6000, 12),
        (1.9, "blackhole begin"),
        (8.0, "blackhole end", 1000, 30),
    ]
    assert orders(project, "[{at: 1900 ms, path: near, fail: interface-down, until: 8 s}]")[2:] == [
        (8.0, "interface-down end"),
        (8.0, "trace begin", 1000, 30),
    ]
    assert orders(project, "[{at: 2 s, path: near, fail: interface-down}]")[-1] == (2.0, "interface-down begin")


def test_the_end_of_a_trace_is_an_instant(project):
    event = "[{at: trace-end, path: near, fail: address-removed, announce-after: 1 s}]"
    assert [order[:2] for order in orders(project, event, seed=1)[-2:]] == [
        (7.0, "address-removed begin"),
        (8.0, "address-removed announce"),
    ]
    assert orders(project, event, seed=2)[0][:2] == (6.5, "address-removed begin")


@pytest.mark.parametrize(
    ("event", "what"),
    [
        ("{at: trace-end, path: far, fail: blackhole}", "at is trace-end, but the path far follows no trace that ends"),
        ("{at: trace-end, path: near, fail: blackhole, until: 7 s}", "is not before the end"),
        ("{path: near, fail: blackhole}", "is missing"),
        ("{at: null, path: near, fail: blackhole}", "is not a duration"),
        ("{at: trace, path: near, fail: blackhole}", "is not a duration"),
    ],
)
def test_instants_that_are_none(project, event, what):
    with pytest.raises(Complaints) as caught:
        orders(project, f"[{event}]")
    assert any(what in complaint.what for complaint in caught.value.complaints), caught.value


def test_the_files_are_inputs(project):
    trial = plan(project, NONE)[0]
    assert list(trial.replay.link_traces) == ["topologies/traces/street/01.csv", "topologies/traces/far.down"]
    before = id_of(trial)
    file = project / "topologies/traces/street/01.csv"
    # The same shapes from other bytes: 20 ms is 20.0 ms.
    file.write_text(file.read_text().replace("20,2.5", "20.0,2.5"))
    changed = plan(project, NONE)[0]
    assert changed.replay.link_traces != trial.replay.link_traces
    assert id_of(changed) == before, "what the guest gets is what counts"
    file.write_text(file.read_text().replace("20.0,2.5", "20.1,2.5"))
    changed = plan(project, NONE)[0]
    assert id_of(changed) != before
    file.with_name("02.csv").write_text((GOLDEN / "links/topologies/traces/street/01.csv").read_text())
    assert id_of(plan(project, NONE)[0]) == id_of(changed), "only what the seed follows"


def test_a_file_outside_is_not_read(project, tmp_path):
    shutil.move(project / "topologies/traces/far.down", tmp_path / "far.down")
    (project / "topologies/traces/far.down").symlink_to(tmp_path / "far.down")
    with pytest.raises(Complaints) as caught:
        plan(project, NONE)
    assert [complaint.what for complaint in caught.value.complaints] == ["leads out of the folder"]


def test_missing_files_are_counted(project):
    shutil.rmtree(project / "topologies/traces/street")
    with pytest.raises(Complaints) as caught:
        plan(project, NONE)
    assert "2 of the 2 traces that two-paths follows are missing: street/01.csv" in caught.value.complaints[0].what


def test_a_file_of_another_format_has_not_a_million_complaints(project):
    (project / "topologies/traces/far.down").write_text("x\n" * 500)
    with pytest.raises(Complaints) as caught:
        plan(project, NONE)
    assert len(caught.value.complaints) == 21
    assert caught.value.complaints[-1].what == "480 more lines were not looked at"


@pytest.mark.parametrize("file", ["../a", "a/../b", "/a", ".a", "a/.b", "a//b", "a/", "", "a b", "a\\b", "a" * 99])
def test_file_names_that_could_leave_the_folder(project, file):
    path = project / "topologies/two-paths.yaml"
    path.write_text(path.read_text().replace("far.down", f"'{file}'"))
    with pytest.raises(Complaints) as caught:
        plan(project, NONE)
    assert "is not a file below topologies/traces" in caught.value.complaints[0].what


@pytest.mark.parametrize(("old", "new"), [("street/NN.csv", "street/01.csv"), (", count: 2", "")])
def test_number_and_count_go_together(project, old, new):
    path = project / "topologies/two-paths.yaml"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(Complaints) as caught:
        plan(project, NONE)
    assert "NN" in caught.value.complaints[0].what


def test_tc_lines(shaping, project):
    found = shapes(project)
    assert shaping.lines("client", found["near", "down"], 1500, fresh=True) == [
        "qdisc replace dev client root handle 1: htb default 1",
        "class replace dev client parent 1: classid 1:1 htb rate 12000000bit ceil 12000000bit burst 1 cburst 1"
        " quantum 1514",
        "qdisc replace dev client parent 1:1 handle 10: netem limit 30 rate 100gbit delay 10000.000us",
    ]
    assert len(shaping.lines("client", found["near", "down"], 1500, fresh=False)) == 2
    assert shaping.lines("server", found["far", "up"], 1500, fresh=True) == [
        "qdisc replace dev server root handle 1: netem limit 77 rate 8000000bit delay 40000.000us"
    ]
