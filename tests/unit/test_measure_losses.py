# SPDX-License-Identifier: Apache-2.0
"""Loss events: one entry for each failure, and what they come to."""

import pcap_writer as writer
import pytest
from trial_writer import TOKEN, TrialWriter

from pathwarp.base.complaints import Complaints
from pathwarp.measure.analysis import analyse
from pathwarp.measure.inputs import Failure, Inputs
from pathwarp.measure.metrics import measure

REMOVE_ADDR = writer.option(4, 0, b"\0")


@pytest.fixture
def trial(tmp_path):
    """A packet of 100 B each 100 ms on wlan, whose address goes at 450 and at 1450 ms and is back 500 ms later.

    Of each failure the packet behind it is lost and comes on 4g: 200 ms later the first time, 60 ms the second.
    """
    made = TrialWriter(tmp_path, constant={"packets_s": 10.0, "packets": 25}, packet_bytes=100)
    made.open("wlan", -100)
    made.open("4g", -50)
    failures = {450: 200, 1450: 60}
    for number in range(25):
        at, offset = number * 100, number * 100
        down = next((ms for ms in failures if ms < at < ms + 500), None)
        if down is None:
            made.send("wlan", at, offset, 100)
            made.log(100, at, at + 6)
        elif at == down + 50:
            # What the removed address's interface hears is not delivered.
            made.send("wlan", at, offset, 100)
            made.send("4g", at + failures[down], offset, 100)
            made.log(100, at, at + failures[down] + 40)
        else:
            made.send("4g", at + 1, offset, 100)
            made.log(100, at, max(at + 41, down + 50 + failures[down] + 40))
    for down in failures:
        made.fail("wlan", down, "address-removed")
        made.fail("wlan", down + 300, "address-removed", "announce")
        made.fail("wlan", down + 500, "address-removed", "end")
        client, server = made.ends("4g")[::-1]
        made.put("4g", down + 300, writer.segment(client, server, 78, options=REMOVE_ADDR), back=True)
    return made


def test_each_failure_has_an_entry(trial):
    metrics = measure(trial.finish())
    first, second = metrics["loss_events"]
    assert (first["event"], first["path"], first["at_s"], second["event"], second["at_s"]) == (0, "wlan", 0.45, 1, 1.45)
    assert (first["lost_packets"], second["lost_packets"]) == (1, 1)
    assert (first["time_to_first_reinjection_ms"], second["time_to_first_reinjection_ms"]) == (250, 110)
    assert (first["recovery_ms"], second["recovery_ms"]) == (290, 150)
    assert (first["delay_increase_ms"], second["delay_increase_ms"]) == (234, 94)
    assert (first["max_interarrival_gap_ms"], second["max_interarrival_gap_ms"]) == (334, 194)
    assert first["path_share_fraction"] == 1
    assert second["path_share_fraction"] == pytest.approx(6 / 10)


def test_the_trial_has_the_median_of_its_events(trial):
    metrics = measure(trial.finish())
    assert metrics["delay_increase_ms"] == (234 + 94) / 2
    assert metrics["max_interarrival_gap_ms"] == (334 + 194) / 2
    assert metrics["time_to_first_reinjection_ms"] == (250 + 110) / 2


def test_the_rate_counts_from_mp_join_to_remove_addr(trial):
    """The first period ends 340 ms after the failure; nothing joins again, so the second failure lies in none."""
    first, second = measure(trial.finish())["loss_events"]
    assert first["removal_after_ms"] == 340
    assert first["rejoined_after_ms"] is None
    assert (first["packets"], first["reinjected_packets"]) == (9, 1)
    assert first["reinjection_rate"] == pytest.approx(1 / 9, abs=1e-6)
    assert (second["packets"], second["reinjection_rate"], second["removal_after_ms"]) == (0, None, None)


def test_a_subflow_that_joins_again_begins_the_next_period(trial):
    (address, _), client = trial.ends("wlan")
    again = (address, 50001)
    trial.put("wlan", 960, writer.segment(again, client, 5000, writer.SYN, options=writer.join(1, TOKEN)))
    first, second = measure(trial.finish())["loss_events"]
    assert first["rejoined_after_ms"] == 10
    assert second["removal_after_ms"] == 340
    assert second["packets"] > 0


def test_a_failure_that_took_nothing_has_no_value(trial):
    trial.events = [event for event in trial.events if event["at_ns"] < trial.events[0]["at_ns"] + 900_000_000]
    trial.fail("4g", 2450)
    metrics = measure(trial.finish())
    (_, second) = metrics["loss_events"]
    assert second["lost_packets"] == 0
    assert second["delay_increase_ms"] is second["recovery_ms"] is second["max_interarrival_gap_ms"] is None
    assert metrics["delay_increase_ms"] == 234


@pytest.mark.parametrize(("packets", "packet_bytes"), [(24, 100), (25, 99)])
def test_a_log_that_is_not_the_plans_constant_rate_is_refused(trial, packets, packet_bytes):
    trial.plan |= {"constant": {"packets_s": 10.0, "packets": packets}, "packet_bytes": packet_bytes}
    with pytest.raises(Complaints, match="is not one of the plan's"):
        analyse(trial.finish())


def test_events_of_format_1_are_read(tmp_path):
    """Guests used to say only which action it was."""
    actions = (
        ("near", "blackhole"),
        ("far", "shape"),
        ("near", "shape"),
        ("far", "address-removed"),
        ("far", "removal-announced"),
        ("near", "interface-down"),
        ("far", "address-added"),
    )
    events = [{"at_ns": number, "path": path, "action": action} for number, (path, action) in enumerate(actions)]
    assert Inputs(tmp_path, {}, {"events": events}).failures == [
        Failure("near", 0, 2, heard=False),
        Failure("far", 3, 6, heard=True),
        Failure("near", 5, None, heard=False),
    ]
