# SPDX-License-Identifier: Apache-2.0
"""From a request to trials: which ones, where their results go, what the guest is told, what their ids depend on."""

import json
import pickle
import shutil

import pytest
from golden_project import GOLDEN, copy_project
from inputs_of_trial import RELEASE, id_of, inputs_of

from pathwarp.base.complaints import Complaint, Complaints
from pathwarp.model.events.registry import FAILURES
from pathwarp.model.overrides import read_overrides
from pathwarp.plan.identity import trial_id
from pathwarp.plan.orders import plan_of
from pathwarp.plan.request import Request, plan_trials


@pytest.fixture
def project(tmp_path):
    return copy_project(tmp_path / "project")


def plan(project, *overrides, **request):
    complaints: list[Complaint] = []
    chosen = read_overrides(overrides, complaints)
    assert not complaints
    return plan_trials(Request(project, "cut", overrides=chosen, **request))


def events(project, events_yaml, **request):
    return plan_of(plan(project, f"events={events_yaml}", **request)[0], RELEASE)["events"]


def told(actions, *more):
    """Instant in s, what else is asked for, and kind and phase of each."""
    return [(one["at_s"], *(one[key] for key in more), f"{one['kind']} {one['phase']}") for one in actions]


def complaints_of(function, *arguments, **named):
    with pytest.raises(Complaints) as caught:
        function(*arguments, **named)
    return caught.value.complaints


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_variants_of_a_seed_follow_one_another(project):
    trials = plan(project)
    assert [(trial.seed, trial.variant.name) for trial in trials] == [
        (1, "plain"),
        (1, "better"),
        (2, "plain"),
        (2, "better"),
        (3, "plain"),
        (3, "better"),
    ]


def test_seeds_beyond_the_traces_start_over_with_the_first(project):
    trials = plan(project, variants=("plain",), seed=3, runs=3)
    assert [(trial.seed, trial.replay.number) for trial in trials] == [(3, 3), (4, 1), (5, 2)]
    assert trials[1].replay.bursts[0].start_ms == 100
    assert [trial.folder.name for trial in trials] == ["seed-003", "seed-004", "seed-005"]


def test_folders_of_options_differ(project):
    folder = plan(project)[1].folder.as_posix()
    assert folder == "results/cut/better/pings/seed-001"
    folder = plan(project, "events.0.fail=interface-down")[1].folder.as_posix()
    assert folder == "results/cut+events.0.fail=interface-down/better/pings/seed-001"


def test_the_guest_plan_is_as_documented(project):
    """The golden file is the plan of seed 2, variant better."""
    expected = json.loads((GOLDEN / "plan.json").read_text())
    (trial,) = plan(project, variants=("better",), seed=2, runs=1)
    assert json.loads(json.dumps(plan_of(trial, RELEASE))) == expected


def test_bursts_at_or_after_the_end_are_left_out(project):
    bursts = plan_of(plan(project, "duration=5100 ms")[0], RELEASE)["bursts"]
    assert bursts[-1] == [4100.0, 400]


@pytest.mark.parametrize(
    ("seed", "at", "into", "instant_ns"),
    [
        (1, "4 s", "5 ms", 4_105_000_000),
        (1, "4100 ms", "5 ms", 4_105_000_000),  # a burst at that very instant is the one
        (1, "4100.001 ms", "5 ms", 5_105_000_000),
        (3, "4 s", "0 s", 4_300_000_000),
    ],
)
def test_into_burst_hits_the_first_burst_from_at_on(project, seed, at, into, instant_ns):
    event = f"[{{at: {at}, path: near, fail: blackhole, into-burst: {into}}}]"
    (action,) = events(project, event, seed=seed, runs=1)
    assert action == {
        "at_ns": instant_ns,
        "at_s": instant_ns / 1e9,
        "link": "near",
        "path": "near",
        "kind": "blackhole",
        "phase": "begin",
        "path_is": "down",
        "heard": False,
        "expect": ["near", "far"],
        "steps": [
            {
                "do": "tc",
                "node": "left",
                "lines": [f"qdisc replace dev {host} root handle 2: blackhole" for host in ("server", "client")],
            }
        ],
    }


@pytest.mark.parametrize("fail", FAILURES)
def test_failures_end(project, fail):
    begins, *_, ends = events(project, f"[{{at: 4 s, path: near, fail: {fail}, until: 6 s}}]")
    assert told([begins, ends], "path_is") == [(4.0, "down", f"{fail} begin"), (6.0, "up", f"{fail} end")]
    assert begins["steps"]
    assert ends["steps"]


def test_a_blackhole_ends_with_the_shape_that_it_took_the_place_of(project):
    _, ends = events(project, "[{at: 4 s, path: near, fail: blackhole, until: 6 s}]")
    shapes = plan_of(plan(project)[0], RELEASE)["network"]["shapes"]
    shape = {one["direction"]: one["shape"] for one in shapes if one["link"] == "near"}
    assert ends["steps"] == [{"do": "shape", "link": "near", "shape": shape, "fresh": True}]


def test_an_address_comes_back_with_its_routes_and_is_announced(project):
    begins, told_of, ends = events(project, "[{at: 4 s, path: near, fail: address-removed, until: 6 s}]")
    lines = plan_of(plan(project)[0], RELEASE)["network"]["lines"]["client"]
    setup = lines[lines.index("addr add 10.1.1.1/24 dev near") :][:6]
    removal = ["rule del from 10.1.1.1", "addr del 10.1.1.1/24 dev near"]
    assert begins["steps"] == [{"do": "ip", "node": "client", "lines": removal}]
    assert told_of["steps"] == [{"do": "withdraw", "path": "near"}]
    assert ends["steps"] == [{"do": "ip", "node": "client", "lines": setup}, {"do": "announce", "path": "near"}]


def test_plain_tcp_has_no_path_manager_to_tell(project):
    edit(project / "kernels/variants/plain/variant.yaml", "source:", "transport: tcp\nsource:")
    actions = events(project, "[{at: 4 s, path: near, fail: address-removed, until: 6 s}]")
    assert [[step["do"] for step in one["steps"]] for one in actions] == [["ip"], [], ["ip"]]


def test_an_interface_comes_up_with_the_routes_that_it_lost(project):
    begins, ends = events(project, "[{at: 4 s, path: near, fail: interface-down, until: 6 s}]")
    assert begins["steps"] == [{"do": "ip", "node": "client", "lines": ["link set dev near down"]}]
    (step,) = ends["steps"]
    assert [line.split()[0] for line in step["lines"]] == ["link", "neigh", "route", "route", "route"]


def test_paths_that_are_up_are_expected_to_have_a_subflow(project):
    actions = events(
        project,
        "[{at: 1 s, path: near, change: {delay: 50 ms}}, {at: 2 s, path: far, change: {delay: 50 ms}}, "
        "{at: 4 s, path: near, fail: blackhole, until: 6 s}, {at: 5 s, path: far, fail: interface-down, until: 7 s}, "
        "{at: 8 s, path: far, fail: address-removed}]",
    )
    assert [(one["at_s"], one["expect"]) for one in actions if "expect" in one] == [
        (1.0, ["near", "far"]),
        (4.0, ["near", "far"]),
        (5.0, ["far"]),
        (8.0, ["near", "far"]),
    ]


def test_changes_lie_on_top_of_each_other_and_end_one_by_one(project):
    actions = events(
        project,
        "[{at: 5 s, path: near, change: {delay: 50 ms}, until: 7 s}, "
        "{at: 4 s, path: near, change: {delay: 30 ms, rate: 1 Mbit/s}, direction: up, until: 6 s}, "
        "{at: 8 s, path: near, change: {loss: 5 %}}]",
    )
    seen = [
        (action["at_s"], way, shape["rate_bit_s"], shape["delay_ns"] // 1_000_000)
        for action in actions
        for step in action["steps"]
        for way, shape in step["shape"].items()
    ]
    assert seen == [
        (4.0, "down", 12_000_000, 10),
        (4.0, "up", 1_000_000, 30),
        (5.0, "down", 12_000_000, 50),
        (5.0, "up", 1_000_000, 50),
        (6.0, "down", 12_000_000, 50),
        (6.0, "up", 12_000_000, 50),
        (7.0, "down", 12_000_000, 10),
        (7.0, "up", 12_000_000, 10),
        (8.0, "down", 12_000_000, 10),
        (8.0, "up", 12_000_000, 10),
    ]
    assert actions[-1]["steps"][0]["shape"]["up"]["loss"] == {"kind": "random", "fraction": 0.05}
    assert (
        actions[1]["steps"][0]["shape"]["down"]["limit_packets"] == 20 + 50
    )  # with the new delay's packets on the wire


def test_one_failure_may_follow_another_at_once(project):
    actions = events(
        project,
        "[{at: 6 s, path: near, fail: interface-down}, {at: 4 s, path: near, fail: blackhole, until: 6 s}, "
        "{at: 5 s, path: far, fail: blackhole}]",
    )
    assert told(actions, "path") == [
        (4.0, "near", "blackhole begin"),
        (5.0, "far", "blackhole begin"),
        (6.0, "near", "blackhole end"),
        (6.0, "near", "interface-down begin"),
    ]


@pytest.mark.parametrize(
    "meeting",
    [
        "{at: 4 s, path: near, fail: blackhole}, {at: 5 s, path: near, change: {rate: 1 Mbit/s}}",
        "{at: 4 s, path: near, fail: blackhole, until: 6 s}, {at: 3 s, path: near, change: {delay: 1 s}, until: 5 s}",
        "{at: 4 s, path: near, fail: blackhole}, {at: 4 s, path: near, fail: interface-down}",
        "{at: 4 s, path: near, fail: blackhole, until: 8 s}, {at: 5 s, path: near, fail: interface-down, until: 6 s}",
    ],
)
def test_events_may_not_meet_a_failure_on_their_path(project, meeting):
    (complaint,) = complaints_of(events, project, f"[{meeting}]")
    assert complaint.where == "scenarios/cut.yaml: events.1"


def test_equal_inputs_have_equal_ids(project, tmp_path):
    twin = copy_project(tmp_path / "elsewhere")
    ids = [id_of(trial) for trial in plan(project)]
    assert ids == [trial_id(dict(reversed(inputs_of(trial).items()))) for trial in plan(twin)]
    assert len(set(ids)) == len(ids)
    assert all(len(text) == 64 and int(text, 16) for text in ids)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("scenarios/cut.yaml", "duration: 10 s", "duration: 9 s"),
        ("scenarios/cut.yaml", "at: 4 s", "at: 4.000000001 s"),
        ("scenarios/cut.yaml", "scheduler: minrtt", "scheduler: roundrobin"),
        ("scenarios/cut.yaml", "preferred-path: near", "preferred-path: far"),
        ("scenarios/cut.yaml", "metrics:", "sysctls: {net.ipv4.tcp_sack: 0}\nmetrics:"),
        ("topologies/two-paths.yaml", "queue: 50 packets, loss: 1 %", "queue: 51 packets, loss: 1 %"),
        ("topologies/two-paths.yaml", "loss: 1 %", "loss: 1.1 %"),
        ("kernels/variants/plain/variant.yaml", "stale_loss_cnt: 0", "stale_loss_cnt: 4"),
        ("traffic/pings.yaml", "packet: 1400 B", "packet: 1300 B"),
        ("traffic/traces/pings/01.csv", "9100.000,400", "9100.000,401"),
    ],
)
def test_ids_change_with_every_input(project, file, old, new):
    before = id_of(plan(project, variants=("better",), runs=1)[0])
    edit(project / file, old, new)
    assert id_of(plan(project, variants=("better",), runs=1)[0]) != before


def test_ids_change_with_what_no_data_file_says(project):
    first, second = plan(project, variants=("better",), runs=2)
    first_ids = [id_of(first), *(id_of(first, **{key: "other"}) for key in inputs_of(first))]
    assert len({*first_ids, id_of(second)}) == len(first_ids) + 1


def test_ids_do_not_change_with_words(project):
    before = [id_of(trial) for trial in plan(project, runs=2)]
    edit(project / "scenarios/cut.yaml", "the near path fails", "the near one fails")
    edit(project / "scenarios/cut.yaml", "runs: 3", "runs: 4")
    edit(project / "topologies/two-paths.yaml", "a near and", "one near and")
    assert [id_of(trial) for trial in plan(project, runs=2)] == before


def test_a_trial_can_be_sent_to_another_process(project):
    trial = plan(project, runs=1)[0]
    assert inputs_of(pickle.loads(pickle.dumps(trial))) == inputs_of(trial)


def test_a_broken_trace_is_named_from_the_project_folder(project):
    shutil.copy(project / "scenarios/cut.yaml", project / "traffic/traces/pings/02.csv")
    complaints = complaints_of(plan, project)
    assert complaints[0].where == "traffic/traces/pings/02.csv:1"
    assert len(plan(project, runs=1)) == 2, "only the traces that are replayed are read"


def test_numbers_out_of_range_and_complaints_of_files_come_together(project):
    (project / "topologies/two-paths.yaml").unlink()
    complaints = complaints_of(plan, project, seed=0, runs=0, backend="kvm")
    assert [complaint.where for complaint in complaints] == [
        "seed",
        "runs",
        "backend",
        "scenarios/cut.yaml:4: topology",
    ]


STREAM = """\
name: stream
title: a constant rate
source: none
kind: constant
packet: 1400 B
rate: 1800 packets/s
"""


def test_a_constant_rate_is_all_in_the_plan(project):
    (project / "traffic/stream.yaml").write_text(STREAM)
    first, second = plan(project, traffic=("stream",), variants=("better",), runs=2)
    guest = plan_of(first, RELEASE)
    assert guest["constant"] == {"packets_s": 1800.0, "packets": 18_000}
    assert guest["bursts"] == []
    assert first.replay.number is None
    assert id_of(first) != id_of(second)
    assert plan_of(plan(project)[0], RELEASE)["constant"] is None


def test_a_constant_rate_has_no_bursts_to_hit(project):
    (project / "traffic/stream.yaml").write_text(STREAM)
    event = "events=[{at: 4 s, path: near, fail: blackhole, into-burst: 5 ms}]"
    (complaint,) = complaints_of(plan, project, event, traffic=("stream",))
    assert "traffic/stream.yaml, no burst follows" in complaint.what


def test_events_repeat(project):
    event = "{at: 2 s, path: near, fail: address-removed, announce-after: 800 ms, until: 3 s, repeat: "
    actions = events(project, f"[{event}{{times: 3, every: 2500 ms}}}}]")
    assert told(actions) == [
        (at_s + begin_s, f"address-removed {phase}")
        for begin_s in (2.0, 4.5, 7.0)
        for at_s, phase in ((0, "begin"), (0.8, "announce"), (1, "end"))
    ]


def test_a_removal_is_announced_at_once_unless_told_otherwise(project):
    actions = events(project, "[{at: 2 s, path: near, fail: address-removed}]")
    assert told(actions) == [(2.0, "address-removed begin"), (2.0, "address-removed announce")]


@pytest.mark.parametrize(
    ("event", "what"),
    [
        ("fail: blackhole, until: 7 s, repeat: {times: 3, every: 2 s}", "its repetition at 10 s is not before the end"),
        ("fail: blackhole, until: 7 s, repeat: {times: 2, every: 500 ms}", "meets its own repetition"),
        ("fail: blackhole, repeat: {times: 2, every: 1 s}", "needs an end of each failure"),
        ("fail: blackhole, announce-after: 1 s", "is for fail: address-removed only"),
        ("fail: address-removed, until: 7 s, announce-after: 1 s", "announce-after leads to 7 s"),
        ("fail: blackhole, until: 7 s, repeat: {times: 2000, every: 1 s}", "is too large"),
        ("fail: blackhole, until: 7 s, repeat: {times: 2, every: 0 s}", "is too small"),
    ],
)
def test_wrong_repetitions_are_refused(project, event, what):
    complaints = complaints_of(events, project, f"[{{at: 6 s, path: near, {event}}}]")
    assert any(what in complaint.what for complaint in complaints), complaints


def test_repetitions_count_as_events(project):
    event = "{at: 1 ms, path: PATH, change: {delay: 5 ms}, until: 2 ms, repeat: {times: 600, every: 3 ms}}"
    (complaint,) = complaints_of(events, project, f"[{event.replace('PATH', 'near')}, {event.replace('PATH', 'far')}]")
    assert "come to 1200" in complaint.what
