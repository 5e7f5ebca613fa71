# SPDX-License-Identifier: Apache-2.0
"""The reinjection timer of rej-k*: s + K v after the first outstanding segment was sent (rejection21, section III)."""

import pytest
from reinjection_timer import Subflow
from segments import segments

PATHS = ("near", "middle", "far")
VARIANTS = {"rej-k1": 1, "rej-k2": 2, "rej-k4": 4}
PORT = 8999
# ss gives s and v in whole µs, and reading clocks takes some ticks.
SLACK_NS = 20_000


def predicted(trial, k: int) -> list[int]:
    """When the timer of the subflow on WLAN fires until the path is down."""
    seen = segments(trial.folder / "captures" / "server-wlan.pcap", PORT)
    events = trial.guest["events"]
    end_ns = events[0]["at_ns"] if events else seen[-1].time_ns
    before = [segment for segment in seen if segment.time_ns <= end_ns or not segment.is_sent]
    return list(Subflow(k).follow(before))


@pytest.mark.parametrize("topology", PATHS)
@pytest.mark.parametrize(("traffic", "packets"), [("single", 1), ("three", 3)])
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_first_packet_is_reinjected_after_s_and_k_v(observe, variant, traffic, packets, topology):
    trial = observe(variant, topology, traffic)
    first = trial.sent[0]
    expected_ns = first.time_ns + trial.estimate("wlan").rej_ns(VARIANTS[variant])
    reinjected = trial.on("4g", first)
    assert [p.offset - first.offset for p in reinjected] == [1400 * i for i in range(packets)]
    assert all(0 <= p.time_ns - expected_ns < SLACK_NS for p in reinjected)


@pytest.mark.parametrize("topology", PATHS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_in_a_stream_the_age_of_the_first_outstanding_packet_counts(observe, variant, topology):
    trial = observe(variant, topology, "stream")
    expected_ns = predicted(trial, VARIANTS[variant])[-1]
    again = next(p for p in trial.sent if p.path == "4g")
    assert 0 <= again.time_ns - expected_ns < SLACK_NS


@pytest.mark.parametrize("variant", VARIANTS)
def test_nothing_fires_in_a_calm_minute(calm, variant):
    trial = calm(variant)
    assert predicted(trial, VARIANTS[variant]) == []
    assert {p.path for p in trial.sent_in_all} == {"wlan"}
    # That of D-ITG's signalling: five bytes of another connection, whose first acknowledgment is a delayed one.
    assert trial.counters["MPTcpExtReinjectRej"] <= 1
    assert trial.counters["MPTcpExtReinjectBytes"] in (0, 5)


@pytest.mark.parametrize("topology", PATHS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_an_idle_subflow_has_no_timer(observe, variant, topology):
    trial = observe(variant, topology, "single")
    begin_ns = trial.guest["flow_start_ns"] + 500_000_000
    idle = [p for p in trial.sent_in_all if begin_ns < p.time_ns < trial.guest["events"][0]["at_ns"]]
    assert {p.path for p in idle} == {"wlan"}
    assert len(idle) == 4


@pytest.mark.parametrize("topology", PATHS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_congestion_control_rto_and_probe_are_those_of_tlp_std(observe, variant, topology):
    ours, theirs = (observe(name, topology, "single") for name in (variant, "tlp-std"))
    assert ours.estimate("wlan").rto_jiffies == theirs.estimate("wlan").rto_jiffies
    on_wlan = [[p.time_ns - trial.sent[0].time_ns for p in trial.on("wlan", trial.sent[0])] for trial in (ours, theirs)]
    assert len(on_wlan[0]) == len(on_wlan[1]) > 0
    # The grid of the timer wheel lies otherwise under another instant.
    assert all(abs(one - two) <= 9_000_000 for one, two in zip(*on_wlan, strict=True))
