# SPDX-License-Identifier: Apache-2.0
"""The timer wheel, Linux' estimator, and what the formulas of the variants' timers come to."""

from pathlib import Path

import pytest

from pathwarp.measure.timing.estimator import Estimator
from pathwarp.measure.timing.prediction import predict_ms
from pathwarp.measure.timing.wheel import fires_at, to_jiffies
from pathwarp.model.catalogue import Catalogue
from pathwarp.model.load import load_variants

MS = 1_000_000
BOOT = 1_767_225_600_000 * MS
BURST = BOOT + 30_000 * MS
VARIANTS = {one.name: one for one in load_variants(Catalogue(Path(__file__).parents[2]), ("all",))}
EVERY_COPY = (1 << 32) - 1


@pytest.mark.parametrize(
    ("armed_ms", "jiffies", "fires_ms"),
    [
        (0, 1, 2),
        (0.999, 1, 2),
        (1, 1, 3),
        (0, 62, 63),
        (0, 63, 64),
        (0, 64, 72),
        (1, 63, 72),
        (0, 213, 216),
        (7, 213, 224),
        (0, 503, 504),
        (0, 504, 544),
        (39, 504, 544),
        (40, 504, 608),
    ],
)
def test_the_wheel_is_coarser_the_further_away(armed_ms: float, jiffies: int, fires_ms: int) -> None:
    assert fires_at(BOOT + round(armed_ms * MS), jiffies, BOOT) == BOOT + fires_ms * MS


def test_durations_are_rounded_up_to_jiffies() -> None:
    assert [to_jiffies(us) for us in (0, 1, 1000, 1001)] == [0, 1, 1, 2]


def test_the_first_round_trip_and_equal_ones_behind_it() -> None:
    estimator = Estimator()
    estimator.sample(80_000, acked=1, sent=1)
    assert (estimator.srtt_us, estimator.rttvar_us, estimator.rto_jiffies) == (80_000, 40_000, 280)
    for number in range(2, 6):
        estimator.sample(80_000, acked=number, sent=number)
    assert estimator.srtt_us == 80_000
    # A quarter off each time (RFC 6298, section 2.3).
    assert estimator.rttvar_us == pytest.approx(40_000 * 0.75**4, abs=2)
    # The smallest RTO is that of 4 v, so that it is 200 ms above the round trip.
    assert estimator.rto_jiffies == 280


def test_a_shorter_round_trip_moves_the_deviation_less() -> None:
    up, down = Estimator(), Estimator()
    for estimator, then in ((up, 60_000), (down, 20_000)):
        for number in range(1, 40):
            estimator.sample(40_000, number, number)
        estimator.sample(then, 40, 40)
    assert up.rttvar_us == pytest.approx(20_000 / 4, abs=2)
    assert down.rttvar_us == pytest.approx(20_000 / 4 / 8, abs=2)


def test_the_probe_waits_longer_for_a_single_packet() -> None:
    estimator = Estimator()
    estimator.sample(40_000, 1, 1)
    assert estimator.rto_jiffies == 240
    assert estimator.pto_jiffies(1) == 240
    assert estimator.pto_jiffies(2) == 82


def course(way_a_ms: float, way_b_ms: float, copies: int, rates: tuple[int, int] = (10**15, 10**15), lost: int = 1):
    """A burst of so many packets, all of which are lost, sent at once in the middle of a jiffy."""
    estimator = Estimator()
    for number in range(1, 40):
        estimator.sample(round(2000 * way_a_ms), number, number)
    states = [
        {
            "at_us": 0,
            "event": "sent",
            "in_flight": number,
            "oldest_us": 0,
            "srtt_us": estimator.srtt_us,
            "rttvar_us": estimator.rttvar_us,
            "rto_jiffies": estimator.rto_jiffies,
            "pto_jiffies": estimator.pto_jiffies(number),
        }
        for number in range(1, lost + 1)
    ]
    links = {
        name: {way: {"delay_ns": round(ms * MS), "rate_bit_s": rate} for way in ("there", "back")}
        for name, ms, rate in (("a", way_a_ms, rates[0]), ("b", way_b_ms, rates[1]))
    }
    last = {"bytes": 490, "copies": copies, "path": "a"}
    return {
        "path": "a",
        "first_sent_ns": BURST,
        "states": states,
        "lost": [{**last, "copies": 1} for _ in range(lost - 1)] + [last],
        "links": links,
        "ack_bytes": 78,
    }


def predicted(variant: str, *arguments, **more) -> float | None:
    chosen = VARIANTS[variant]
    assert chosen.timing is not None
    return predict_ms(course(*arguments, **more), chosen.timing, chosen.sysctls, BOOT)


# Burst, probe and RTO by hand: s is 12, 40 or 80 ms, so that PTO = RTO = s + 200 ms on the wheel's grid of 8.
PTO = {6: 216, 20: 248, 40: 288}
# The connection's timer of mainline: 200 ms on that grid.
CONNECTION = 208


@pytest.mark.parametrize("ways", [(6, 40), (20, 20), (40, 6)])
@pytest.mark.parametrize(
    ("variant", "arrives", "lost"),
    [
        ("tlp-std", lambda pto, a, b: pto + a, lambda pto, a, b: 2 * pto + min(a, b)),
        ("tlp-mp", lambda pto, a, b: pto + min(a, b), lambda pto, a, b: pto + b),
        ("rto", lambda pto, a, b: pto + min(a, b), lambda pto, a, b: pto + b),
        ("pto", lambda pto, a, b: pto + min(a, b), lambda pto, a, b: pto + b),
        ("mainline", lambda pto, a, b: min(pto + a, CONNECTION + b), lambda pto, a, b: CONNECTION + b),
        ("tcp", lambda pto, a, b: pto + a, lambda pto, a, b: 2 * pto + a),
    ],
)
def test_a_burst_of_one_packet_takes_what_the_formulas_say(ways, variant, arrives, lost) -> None:
    way_a, way_b = ways
    pto = PTO[way_a]
    # Where RTO - PTO is no multiple of the grid the two would differ; here both lie on it.
    assert predicted(variant, way_a, way_b, 0b1) == pytest.approx(arrives(pto, way_a, way_b), abs=0.001)
    assert predicted(variant, way_a, way_b, 0b11) == pytest.approx(lost(pto, way_a, way_b), abs=0.001)


@pytest.mark.parametrize(("variant", "k"), [("rej-k1", 1), ("rej-k4", 4)])
def test_the_reinjection_timer_is_off_the_wheel(variant: str, k: int) -> None:
    state = course(6, 40, 1)["states"][0]
    wait_ms = (state["srtt_us"] + max(10, k * state["rttvar_us"])) / 1000
    assert predicted(variant, 6, 40, 0b1) == pytest.approx(wait_ms + 40, abs=0.001)
    # Where the way of the other path is longer than all of that, the probe is first.
    assert predicted(variant, 6, 400, 0b1) == pytest.approx(PTO[6] + 6, abs=0.001)


@pytest.mark.parametrize(
    ("ways", "rates", "gains"),
    [((6, 40), (150, 30), (0, 181.9)), ((20, 20), (150, 30), (0, 248.0)), ((40, 6), (30, 150), (34.1, 288.0))],
)
def test_gains_are_those_that_were_measured_by_hand(ways, rates, gains) -> None:
    """Bursts of 400 B on 150 and 30 Mbit/s, tlp-std minus tlp-mp, the probe arriving and lost."""
    bits = (rates[0] * 10**6, rates[1] * 10**6)
    found = [predicted("tlp-std", *ways, copies, bits) - predicted("tlp-mp", *ways, copies, bits) for copies in (1, 3)]
    if ways != (20, 20):
        assert found == pytest.approx(gains, abs=0.05)
    else:
        # Equal delays, but not equal rates: the two ways differ by a tenth of a millisecond.
        assert found == pytest.approx(gains, abs=0.11)


def test_two_lost_packets_take_a_probe_and_a_round_trip_more() -> None:
    # Two in flight: the probe waits for 2 s + 2 ms; its selective acknowledgment shows the hole.
    pto = 27
    assert predicted("tlp-std", 6, 40, 0b1, lost=2) == pytest.approx(pto + 6 + 6 + 6, abs=0.01)
    assert predicted("tlp-mp", 6, 40, 0b1, lost=2) == pytest.approx(pto + 6 + 6 + 6, abs=0.01)


def test_a_subflow_hands_on_nothing_behind_its_own_hole() -> None:
    """The probe is there at 33 ms, but the packet ahead of it at 52 on WLAN; 4G brings both, one behind the other."""
    late = course(6, 40, 0b1, (10**15, 10**7), lost=2)
    chosen = VARIANTS["rej-k1"]
    assert chosen.timing is not None
    wait_ms = (late["states"][-1]["srtt_us"] + 10) / 1000
    takes_ms = 490 * 8 / 1e4
    assert predict_ms(late, chosen.timing, chosen.sysctls, BOOT) == pytest.approx(45 + 0.01, abs=0.1)
    slow = course(12, 20, 0b1, (10**15, 10**7), lost=2)
    assert predict_ms(slow, chosen.timing, chosen.sysctls, BOOT) == pytest.approx(
        (slow["states"][-1]["srtt_us"] + 10) / 1000 + 20 + 2 * takes_ms, abs=0.001
    )
    assert wait_ms < 45


def test_without_another_path_there_is_no_other_way() -> None:
    alone = course(6, 40, 0b11)
    del alone["links"]["b"]
    chosen = VARIANTS["tlp-mp"]
    assert chosen.timing is not None
    assert predict_ms(alone, chosen.timing, chosen.sysctls, BOOT) == pytest.approx(2 * PTO[6] + 6, abs=0.001)


def test_what_never_arrives_is_not_predicted() -> None:
    chosen = VARIANTS["rto"]
    none = course(6, 40, EVERY_COPY)
    none["lost"][0]["path"] = ""
    assert chosen.timing is not None
    assert predict_ms(none, chosen.timing, chosen.sysctls, BOOT) is None


def test_every_variant_says_what_its_timers_send() -> None:
    assert [name for name, one in VARIANTS.items() if one.timing is None] == []
    assert VARIANTS["rej-k4"].timing == VARIANTS["rej-k1"].timing
    assert VARIANTS["rto"].timing.pto is None
    assert VARIANTS["tlp-mp"].timing.rto == VARIANTS["rto"].timing.rto
