# SPDX-License-Identifier: Apache-2.0
"""Duplicate acknowledgments restart the reinjection timer of rej-k* (rejection21, section III).

The packet at 3 s is lost, what follows it is acknowledged selectively. Each of these acknowledgments is an RTT sample,
so SRTT + K RTTVAR, counted from the lost packet's transmission, isn't what it was when that was sent.
"""

import pytest
from reinjection_timer import Subflow
from segments import Segment, segments

PATHS = ("near", "middle", "far")
VARIANTS = {"rej-k1": 1, "rej-k2": 2, "rej-k4": 4}
PORT = 8999
# Reading clocks takes some ticks.
SLACK_NS = 20_000


def lost_packet(trial):
    """The one data packet that didn't arrive."""
    (lost,) = (p for p in trial.sent_in_all if p.arrival_ns < 0)
    assert lost.path == "wlan"
    return lost


def reinjected_ns(trial) -> int:
    """When the lost packet left on 4G."""
    lost = lost_packet(trial)
    return next(p.time_ns for p in trial.sent_in_all if p.path == "4g" and p.offset == lost.offset)


def on_wlan(trial) -> list[Segment]:
    return segments(trial.folder / "captures" / "server-wlan.pcap", PORT)


def predicted_ns(trial, subflow: Subflow) -> int:
    """When the timer fires first after the lost packet was sent."""
    sent_ns = lost_packet(trial).time_ns
    return next(at_ns for at_ns in subflow.follow(on_wlan(trial)) if at_ns > sent_ns)


@pytest.mark.parametrize("topology", PATHS)
@pytest.mark.parametrize(("variant", "k"), VARIANTS.items())
def test_duplicates_restart_the_timer(lose, variant, k, topology):
    trial = lose(variant, topology, "hole")
    actual_ns = reinjected_ns(trial)
    assert 0 <= actual_ns - predicted_ns(trial, Subflow(k)) < SLACK_NS
    # Left alone by duplicates it would have fired a millisecond later or more.
    assert predicted_ns(trial, Subflow(k, is_restarted_by_duplicates=False)) - actual_ns > 1_000_000


@pytest.mark.parametrize("topology", PATHS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_two_duplicates_come_before_the_timer_fires(lose, variant, topology):
    trial = lose(variant, topology, "hole")
    sent_ns, fired_ns = lost_packet(trial).time_ns, reinjected_ns(trial)
    between = [s for s in on_wlan(trial) if sent_ns < s.time_ns < fired_ns and not s.is_sent]
    assert [len(s.sacked) for s in between] == [1, 1]
    assert len({s.ack for s in between}) == 1


@pytest.mark.parametrize(("variant", "topology"), [("rej-k4", "near"), ("rej-k2", "middle")])
def test_a_duplicate_fires_the_timer_at_once_when_the_deadline_is_past(lose, variant, topology):
    k = VARIANTS[variant]
    trial = lose(variant, topology, "late")
    duplicate = next(s for s in on_wlan(trial) if s.sacked)
    assert predicted_ns(trial, Subflow(k)) == duplicate.time_ns
    assert 0 <= reinjected_ns(trial) - duplicate.time_ns < SLACK_NS
    assert predicted_ns(trial, Subflow(k, is_restarted_by_duplicates=False)) - duplicate.time_ns > 100_000
