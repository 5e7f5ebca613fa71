# SPDX-License-Identifier: Apache-2.0
"""Which subflow a scheduler gives new data to, packet by packet."""

import pytest
from conftest import Observation, Sent, run

from pathwarp.model.overrides import Override
from pathwarp.plan.request import Request, plan_trials

# 4G is the slower path, and the first one.
FIRST, OTHER = "4g", "wlan"
# What Linux lets out after a pause longer than an RTO (tcp_slow_start_after_idle), in segments.
INITIAL_WINDOW = 10
LEAVE = "[{at: 2.5 s, path: 4g, fail: address-removed, until: 3.5 s}]"
# Scheduler, traffic, events.
TRIALS = (
    ("preferred", "train", "[]"),
    ("preferred", "thirty", "[]"),
    ("preferred", "train", LEAVE),
    ("minrtt", "train", "[]"),
    ("minrtt", "train", LEAVE),
)


@pytest.fixture(scope="module")
def scheduled(tmp_path_factory, make_project):
    """(scheduler, traffic, events) -> Observation, with 4G preferred."""
    root = make_project(tmp_path_factory.mktemp("scheduled"))
    trials = {}
    for scheduler, traffic, events in TRIALS:
        values = {"scheduler": scheduler, "preferred-path": FIRST, "events": events}
        overrides = tuple(sorted(Override(path, value) for path, value in values.items()))
        (trials[scheduler, traffic, events],) = plan_trials(
            Request(root, "exact", ("tlp-std",), (traffic,), overrides=overrides)
        )
    observations = run(root, trials)
    return lambda *key: observations[key]


def bursts(trial: Observation, size: int) -> dict[int, list[Sent]]:
    """The packets with new data of each burst of that many bytes, in the order sent."""
    found: dict[int, list[Sent]] = {}
    known = 0
    for packet in trial.sent_in_all:
        if packet.offset >= known:
            found.setdefault(packet.offset // size, []).append(packet)
            known = packet.offset + packet.length
    return found


def paths(packets: list[Sent]) -> list[str]:
    return [packet.path for packet in packets]


def test_preferred_keeps_to_the_first_subflow_though_it_is_slower(scheduled):
    by_burst = bursts(scheduled("preferred", "train", "[]"), 14_000)
    assert set(by_burst) == set(range(8))
    for burst in range(8):
        assert set(paths(by_burst[burst])) == {FIRST}


def test_minrtt_takes_the_faster_one(scheduled):
    by_burst = bursts(scheduled("minrtt", "train", "[]"), 14_000)
    for burst in range(1, 8):
        assert set(paths(by_burst[burst])) == {OTHER}


def test_preferred_spills_over_when_the_window_is_full_and_not_before(scheduled):
    trial = scheduled("preferred", "thirty", "[]")
    analysis = trial.analysis
    for burst, packets in bursts(trial, 42_000).items():
        if burst == 0:
            continue
        on = paths(packets)
        assert on[:INITIAL_WINDOW] == [FIRST] * INITIAL_WINDOW
        assert on[INITIAL_WINDOW : 2 * INITIAL_WINDOW] == [OTHER] * INITIAL_WINDOW
        # WLAN's acknowledgments come first and make room there, while 4G's window stays full.
        assert set(on[2 * INITIAL_WINDOW :]) == {OTHER}
        first_ack_ns = packets[0].time_ns + 80_000_000
        assert all(packet.time_ns < first_ack_ns for packet in packets)
    assert analysis.inputs.plan["preferred_path"] == FIRST


def test_preferred_goes_back_to_a_first_subflow_that_joined_again(scheduled):
    by_burst = bursts(scheduled("preferred", "train", LEAVE), 14_000)
    assert [set(paths(by_burst[burst])) for burst in (2, 3, 4, 5)] == [{FIRST}, {OTHER}, {FIRST}, {FIRST}]


def test_minrtt_does_not(scheduled):
    by_burst = bursts(scheduled("minrtt", "train", LEAVE), 14_000)
    assert [set(paths(by_burst[burst])) for burst in (2, 3, 4, 5)] == [{OTHER}] * 4
