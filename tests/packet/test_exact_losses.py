# SPDX-License-Identifier: Apache-2.0
"""Chosen packets are lost, and no other: named by a byte of the stream, whoever sends it again and when."""

import pytest
from conftest import (
    ACKS,
    ALL,
    FIRST,
    FIRST_TWO,
    HALF,
    LAST_TWO,
    LAST_TWO_AND_PROBE,
    LATE,
    NONE,
    ON_LINK,
    PREDICTED,
    ROOT,
    TOPOLOGIES,
    Observation,
)

from pathwarp.measure.timing.course import course
from pathwarp.measure.timing.prediction import predict_ms
from pathwarp.measure.transports import answers
from pathwarp.model.catalogue import Catalogue
from pathwarp.model.load import load_variants

BURST_BYTES = 14_000
LAST = 5 * BURST_BYTES - 1
MIDDLE = 4 * BURST_BYTES + BURST_BYTES // 2


def holding(trial: Observation, byte: int, path: str | None = None) -> list:
    """The packets that hold a byte, in the order sent."""
    return [
        packet
        for packet in trial.sent_in_all
        if packet.offset <= byte < packet.offset + packet.length and path in (None, packet.path)
    ]


def lost(trial: Observation) -> list:
    return [packet for packet in trial.sent_in_all if packet.arrival_ns < 0]


def counted(trial: Observation) -> list[dict]:
    return trial.guest["losses"]


def completions(trial: Observation) -> list[float]:
    return [burst["completion_time_ms"] for burst in trial.metrics["burst_completion_time_ms"]]


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("variant", ["tcp", "tlp-std"])
@pytest.mark.parametrize(
    ("losses", "byte", "copies"), [(FIRST, LAST, [0]), (FIRST_TWO, LAST, [0, 1]), (HALF, MIDDLE, [0])]
)
def test_the_chosen_copies_are_lost_and_nothing_else(chosen, topology, variant, losses, byte, copies):
    trial = chosen(variant, topology, "train", losses)
    sent = holding(trial, byte, "wlan")
    assert lost(trial) == [sent[copy] for copy in copies]
    assert counted(trial) == [{"seen": len(sent), "lost": len(copies)}]
    assert None not in completions(trial)


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_all_copies_on_a_path_are_lost_and_the_other_path_repairs(chosen, topology):
    trial = chosen("tlp-std", topology, "train", ALL)
    assert lost(trial) == holding(trial, LAST, "wlan")
    assert len(lost(trial)) > 1
    assert [packet.arrival_ns > 0 for packet in holding(trial, LAST, "4g")][:1] == [True]
    assert None not in completions(trial)


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("variant", ["tcp", "tlp-std"])
def test_acknowledgments_are_lost_and_no_data(chosen, topology, variant):
    trial = chosen(variant, topology, "train", ACKS)
    analysis = trial.analysis
    covering = sorted(
        answers.covering(analysis.inputs, analysis.connection, analysis.decoded, LAST), key=lambda one: one.sent_ns
    )
    assert [answer.arrived_ns is None for answer in covering[:4]] == [True, True, False, False]
    assert lost(trial) == []
    assert counted(trial)[0]["lost"] == 2


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("variant", ["tcp", "tlp-std"])
def test_a_packet_is_lost_by_its_number_on_a_link(chosen, topology, variant):
    trial = chosen(variant, topology, "train", ON_LINK)
    on_wlan = [packet for packet in trial.sent_in_all if packet.path == "wlan"]
    assert lost(trial) == [on_wlan[36]]
    server, client = (trial.analysis.decoded[host, "wlan"].tcp for host in ("server", "client"))
    sent, came = (pure_acks(table, int(client.src[client.sport == 8999][0])) for table in (client, server))
    assert len(sent) > 11
    assert [number for number, ident in enumerate(sent, 1) if ident not in came] == [11]
    data, ack = trial.metrics["exact_losses"]
    assert (data["number"], data["byte"]) == (37, on_wlan[36].offset)
    assert (ack["number"], ack["byte"]) == (11, None)


def pure_acks(table, source: int) -> list[int]:
    """The IP identifications of a host's segments that do nothing but acknowledge."""
    alone = (table.payload_len == 0) & (table.flags & 0x17 == 0x10) & (table.src == source)
    return table.ident[alone].tolist()


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_until_a_packet_is_lost_the_trial_is_one_without_losses(chosen, topology):
    calm, late = (chosen("tlp-std", topology, "train", losses) for losses in (NONE, LATE))
    (packet,) = lost(late)
    assert packet.offset + packet.length == 8 * BURST_BYTES
    until_ns = packet.time_ns
    assert lost(calm) == []
    for capture in ("server-wlan", "server-4g", "client-wlan", "client-4g"):
        one, two = (packets(trial, capture) for trial in (calm, late))
        assert one[: len(two)][: sum(time_ns <= until_ns for time_ns, _ in two)] == [
            (time_ns, content) for time_ns, content in two if time_ns <= until_ns
        ]


def packets(trial: Observation, capture: str) -> list[tuple[int, bytes]]:
    content = (trial.folder / "captures" / f"{capture}.pcap").read_bytes()
    found, at = [], 24
    while at < len(content):
        seconds, ns, length = (int.from_bytes(content[at + 4 * i : at + 4 * i + 4], "little") for i in range(3))
        found.append((seconds * 1_000_000_000 + ns, content[at + 16 : at + 16 + length]))
        at += 16 + length
    return found


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("variant", ["tlp-mp", "pto", "rto", "rej-k1"])
def test_after_a_repaired_loss_bursts_are_back_on_the_preferred_path(chosen, topology, variant):
    """TCP keeps tlp_high_seq beyond the answer to a probe that repaired a loss: that alone is no doubt of the path."""
    trial = chosen(variant, topology, "single", FIRST)
    assert [packet.path for packet in lost(trial)] == ["wlan"]
    for burst in (5, 6):
        assert [packet.path for packet in holding(trial, 400 * burst)] == ["wlan"]
    before, *_, after = completions(trial)[3:]
    assert after == pytest.approx(before, abs=0.002)


# Between the application's clock and the packet, and while the guest reads clocks: microseconds.
SLACK_MS = 0.02
SINGLE = tuple((variant, "single", FIRST) for variant in ("tlp-mp", "pto", "rto", "rej-k1"))
TRAIN = tuple((variant, "train", losses) for variant in ("tcp", "tlp-std") for losses in (FIRST, FIRST_TWO))
SEVERAL = tuple((variant, "train", losses) for variant in PREDICTED for losses in (LAST_TWO, LAST_TWO_AND_PROBE))


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize(("variant", "traffic", "losses"), [*SINGLE, *TRAIN, *SEVERAL])
def test_a_burst_is_complete_when_the_formulas_say(chosen, topology, variant, traffic, losses):
    trial = chosen(variant, topology, traffic, losses)
    (resolved,) = load_variants(Catalogue(ROOT), (variant,))
    known = course(trial.analysis, 4)
    predicted_ms = predict_ms(known, resolved.timing, resolved.sysctls, trial.boot_ns)
    assert 0 <= completions(trial)[4] - predicted_ms < SLACK_MS
