# SPDX-License-Identifier: Apache-2.0
"""Each variant's recovery from a silent failure, to the jiffy, on three settings of the paths (RFC 8985, RFC 6298)."""

import pytest
from timers import fires_at

from pathwarp.measure.timing.course import states

PATHS = ("near", "middle", "far")
# Softirqs and the worker take no virtual time, but reading clocks does: far less than a jiffy.
SLACK_NS = 20_000
# Five bursts before the failure; the first one only begins a round (tp->rtt_seq).
ROUNDS = 4


def close(actual_ns: int, expected_ns: int) -> bool:
    return 0 <= actual_ns - expected_ns < SLACK_NS


def timers(trial, packets: int) -> tuple[int, int, int]:
    """When the affected burst was sent, its PTO, and the RTO that starts anew with the probe."""
    first = trial.sent[0]
    estimate = trial.estimate("wlan")
    pto_ns = fires_at(first.time_ns, estimate.pto_jiffies(packets), trial.boot_ns)
    return first.time_ns, pto_ns, fires_at(pto_ns, estimate.rto_jiffies, trial.boot_ns)


@pytest.mark.parametrize("topology", PATHS)
@pytest.mark.parametrize("variant", ["mainline", "rto", "tlp-std", "tlp-mp", "pto", "tcp"])
def test_the_rto_is_that_of_rfc_6298_with_linux_minimum(observe, variant, topology):
    estimate = observe(variant, topology, "single").estimate("wlan")
    assert estimate.rto_jiffies == estimate.expected_rto_jiffies(ROUNDS)


@pytest.mark.parametrize("topology", PATHS)
@pytest.mark.parametrize("traffic", ["single", "three", "stream"])
@pytest.mark.parametrize(("variant", "path"), [("tlp-std", "wlan"), ("tlp-std", "4g"), ("tcp", "wlan")])
def test_estimates_made_from_the_captures_are_the_kernels(observe, variant, path, traffic, topology):
    """What predictions are made from: s and v to the microsecond, the RTO to the jiffy."""
    trial = observe(variant, topology, traffic)
    flow = next(flow for flow in trial.analysis.connection.subflows if flow.path == path)
    looked_ns = trial.guest["events"][0]["at_ns"] - 1_000_000
    *_, last = states(flow, trial.analysis.decoded["server", path], trial.analysis, 0, looked_ns)
    kernel = trial.estimate(path)
    # ss leaves out zeros behind the comma, and nothing else.
    assert (last["srtt_us"], last["rttvar_us"]) == (round(kernel.srtt_us), round(kernel.rttvar_us))
    assert last["rto_jiffies"] == kernel.rto_jiffies


@pytest.mark.parametrize("topology", PATHS)
@pytest.mark.parametrize(("traffic", "packets"), [("single", 1), ("three", 3)])
@pytest.mark.parametrize("variant", ["tlp-std", "tlp-mp", "pto", "mainline", "tcp"])
def test_the_probe_goes_out_on_wlan_at_pto(observe, variant, traffic, packets, topology):
    trial = observe(variant, topology, traffic)
    first = trial.sent[0]
    _, pto_ns, rto_ns = timers(trial, packets)
    again = [p for p in trial.on("wlan", first) if p.time_ns > first.time_ns + 1_000_000]
    assert close(again[0].time_ns, pto_ns)
    assert again[0].offset == first.offset + 1400 * (packets - 1)
    assert close(again[1].time_ns, rto_ns)
    assert again[1].offset == first.offset


@pytest.mark.parametrize("topology", PATHS)
@pytest.mark.parametrize(("traffic", "packets"), [("single", 1), ("three", 3)])
def test_tlp_std_reinjects_at_pto_and_rto(observe, traffic, packets, topology):
    trial = observe("tlp-std", topology, traffic)
    first = trial.sent[0]
    _, _, rto_ns = timers(trial, packets)
    reinjected = trial.on("4g", first)
    assert [p.offset - first.offset for p in reinjected] == [1400 * i for i in range(packets)]
    assert all(close(p.time_ns, rto_ns) for p in reinjected)
    assert trial.counters["MPTcpExtReinjectRto"] >= 1
    assert trial.counters["MPTcpExtReinjectBytes"] == sum(p.length for p in reinjected)


@pytest.mark.parametrize("topology", PATHS)
@pytest.mark.parametrize(("traffic", "packets"), [("single", 1), ("three", 3)])
def test_rto_reinjects_at_the_rto_without_a_probe(observe, traffic, packets, topology):
    trial = observe("rto", topology, traffic)
    first = trial.sent[0]
    expected_ns = fires_at(first.time_ns, trial.estimate("wlan").rto_jiffies, trial.boot_ns)
    reinjected = trial.on("4g", first)
    assert [p.offset - first.offset for p in reinjected] == [1400 * i for i in range(packets)]
    assert all(close(p.time_ns, expected_ns) for p in reinjected)
    assert trial.counters.get("TcpExtTCPLossProbes", 0) == 0


@pytest.mark.parametrize("topology", PATHS)
@pytest.mark.parametrize(("traffic", "packets"), [("single", 1), ("three", 3)])
def test_tlp_mp_sends_the_probe_on_4g_and_the_rest_at_rto(observe, traffic, packets, topology):
    trial = observe("tlp-mp", topology, traffic)
    first = trial.sent[0]
    _, pto_ns, rto_ns = timers(trial, packets)
    probe, *rest = trial.on("4g", first)
    assert close(probe.time_ns, pto_ns)
    assert probe.offset == first.offset + 1400 * (packets - 1)
    assert [p.offset - first.offset for p in rest] == [1400 * i for i in range(packets - 1)]
    assert all(close(p.time_ns, rto_ns) for p in rest)
    assert trial.counters["MPTcpExtProbeOther"] == 1


@pytest.mark.parametrize("topology", PATHS)
@pytest.mark.parametrize(("traffic", "packets"), [("single", 1), ("three", 3)])
def test_pto_reinjects_everything_at_pto(observe, traffic, packets, topology):
    trial = observe("pto", topology, traffic)
    first = trial.sent[0]
    _, pto_ns, _ = timers(trial, packets)
    reinjected = trial.on("4g", first)
    assert [p.offset - first.offset for p in reinjected] == [1400 * i for i in range(packets)]
    assert all(close(p.time_ns, pto_ns) for p in reinjected)
    assert trial.counters["MPTcpExtReinjectPto"] == 1


@pytest.mark.parametrize("topology", PATHS)
def test_plain_tcp_never_recovers(observe, topology):
    trial = observe("tcp", topology, "single")
    assert {p.path for p in trial.sent} == {"wlan"}
    assert all(p.arrival_ns < 0 for p in trial.sent)


@pytest.mark.parametrize("topology", PATHS)
def test_what_is_reinjected_arrives_one_4g_delay_later(observe, topology):
    delay_ns = {"near": 40_000_000, "middle": 25_000_000, "far": 90_000_000}[topology]
    for variant in ("rto", "tlp-std", "tlp-mp", "pto"):
        trial = observe(variant, topology, "single")
        packet = trial.on("4g", trial.sent[0])[0]
        # 400 B of payload, the TCP header with timestamps and a DSS option, IPv4, Ethernet, at 30 Mbit/s
        frame_bytes = 400 + 20 + 12 + 24 + 20 + 14
        assert abs(packet.arrival_ns - packet.time_ns - delay_ns - frame_bytes * 8e9 / 30e6) < SLACK_NS


@pytest.mark.parametrize(("variant", "path"), [("tlp-mp", "4g"), ("tlp-std", "wlan"), ("pto", "wlan")])
def test_new_data_stays_away_from_an_unanswered_probe_only_in_tlp_mp(observe, variant, path):
    trial = observe(variant, "near", "follow")
    first = trial.sent[0]
    _, pto_ns, rto_ns = timers(trial, 1)
    following = next(p for p in trial.sent if p.offset == first.offset + first.length)
    assert pto_ns < following.time_ns < rto_ns
    assert following.path == path
