# SPDX-License-Identifier: Apache-2.0
"""The reinjection timer's other readings: what is overdue only, and the RTO's variance for RTTVAR."""

import pytest
from conftest import Observation, run

from pathwarp.model.overrides import Override
from pathwarp.plan.request import Request, plan_trials

JITTER = Override("topology.paths.wlan.down.jitter", "{spread: 1 ms, kind: pareto}")
TRIALS = {
    "all": ("silent", "rej-k1", ()),
    "overdue": ("silent", "rej-k1", (Override("sysctls.net.mptcp.rej_overdue", "1"),)),
    "mdev": ("unsteady", "rej-k4", (JITTER,)),
    "rttvar": ("unsteady", "rej-k4", (Override("sysctls.net.mptcp.rej_rttvar", "1"), JITTER)),
}


@pytest.fixture(scope="module")
def read(tmp_path_factory, make_project):
    """Name of a reading -> Observation of a stream."""
    root = make_project(tmp_path_factory.mktemp("readings"))
    trials = {
        name: trial
        for name, (scenario, variant, overrides) in TRIALS.items()
        for trial in plan_trials(
            Request(root, scenario, (variant,), ("stream",), overrides=overrides, with_baseline=False)
        )
    }
    return run(root, trials).__getitem__


def waits_ms(trial: Observation) -> list[float]:
    """How long after its loss on WLAN each packet of the first round trip was sent on 4G."""
    lost = [packet for packet in trial.sent_in_all if packet.path == "wlan" and packet.arrival_ns < 0]
    # Reinjected segments are larger than the application's packets.
    again = [packet for packet in trial.sent if packet.path == "4g"]
    return [
        (next(one.time_ns for one in again if 0 <= packet.offset - one.offset < one.length) - packet.time_ns) / 1e6
        for packet in lost
        if packet.time_ns - lost[0].time_ns < 10_000_000
    ]


def test_all_that_is_outstanding_goes_at_once_or_each_when_it_is_overdue(read):
    srtt_ms = 12
    assert max(waits_ms(read("all"))) < srtt_ms, "what was sent before them was overdue"
    overdue = waits_ms(read("overdue"))
    assert len(overdue) >= 4
    assert all(srtt_ms < wait for wait in overdue)
    assert max(overdue[:2]) < srtt_ms + 1, "those behind wait for 4G's window"


def test_the_variance_of_the_rto_lets_the_timer_fire_less_often(read):
    fired = {name: read(name).counters["MPTcpExtReinjectRej"] for name in ("mdev", "rttvar")}
    assert 0 < fired["rttvar"] < fired["mdev"] / 2
