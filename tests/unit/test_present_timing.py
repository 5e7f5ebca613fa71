# SPDX-License-Identifier: Apache-2.0
"""Timing diagrams from packets whose story is known."""

from dataclasses import replace
from pathlib import Path

from pathwarp.measure.kinds.registry import KINDS
from pathwarp.measure.recovery import PacketEvent, Recovery
from pathwarp.present.groups import group, words
from pathwarp.present.timing import draw

MS = 1_000_000
START = 1_700_000_000 * 10**9
WINDOW = (-50.0, 500.0)
BY_KEY = {kind.key: kind for kind in KINDS}


def packet(
    path: str, sent_ms: float, arrived_ms: float | None, kind: str, offset: int = 0, **other: object
) -> PacketEvent:
    arrived = None if arrived_ms is None else START + round(arrived_ms * MS)
    event = PacketEvent(path, "down", START + round(sent_ms * MS), arrived, offset, 400, BY_KEY[kind])
    return replace(event, **other)


STANDARD = Recovery(
    variant="tlp-std",
    paths=("wlan", "4g"),
    events=(
        packet("wlan", 0, None, "original"),
        packet("wlan", 212, None, "probe"),
        packet("wlan", 424, None, "retransmission"),
        packet("4g", 424, 464, "reinjection"),
        packet("4g", 464, 504, "ack", direction="up", length=0),
    ),
    start_ns=START,
    completed_ns=START + 464 * MS,
    failed_path="wlan",
    failed_ns=START - 35 * MS,
)
MULTIPATH = replace(
    STANDARD,
    variant="tlp-mp",
    events=(*STANDARD.events[:2], packet("4g", 212, 252, "probe")),
    completed_ns=START + 252 * MS,
)


def text_of(recoveries: list[Recovery], out_dir: Path) -> str:
    svg, png = draw(recoveries, "Docs traffic: recovery", "trace 1", out_dir, "timing")
    assert png.read_bytes().startswith(b"\x89PNG")
    return svg.read_text()


def test_comparison_names_packets_and_marks_the_gain(tmp_path: Path) -> None:
    text = text_of([STANDARD, MULTIPATH], tmp_path)
    for expected in ("tlp-std", "tlp-mp", "WLAN", "4G", "server", "client", "P loss", "probe loss", "RETx loss",
                     "reinjection on 4G", "probe on 4G", "424.0 ms", "bytes 0 to 399", "WLAN fails", "35.0 ms before",
                     "burst complete", "464.0 ms", "252.0 ms", "gain", "212.0 ms", "(46 %)"):  # fmt: skip
        assert f">{expected}<" in text, expected


def test_same_packets_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        draw([STANDARD, MULTIPATH], "title", "subtitle", tmp_path / name, "timing")
    for kind in ("svg", "png"):
        assert (tmp_path / f"a/timing.{kind}").read_bytes() == (tmp_path / f"b/timing.{kind}").read_bytes()


def test_a_burst_that_never_completes_has_no_gain(tmp_path: Path) -> None:
    text = text_of([STANDARD, replace(MULTIPATH, variant="tcp", completed_ns=None)], tmp_path)
    assert ">burst never<" in text and ">gain<" not in text
    assert ">burst never<" in text_of([replace(STANDARD, completed_ns=None)], tmp_path)


def test_a_later_completion_is_no_gain(tmp_path: Path) -> None:
    text = text_of([MULTIPATH, STANDARD], tmp_path)
    assert ">later by<" in text and ">gain<" not in text


def test_a_failure_long_before_is_told_in_words(tmp_path: Path) -> None:
    text = text_of([replace(STANDARD, failed_ns=START - 812 * MS)], tmp_path)
    assert ">WLAN fails<" in text and ">812.0 ms before<" in text


def test_many_packets_are_labelled_by_groups() -> None:
    flight = [packet("wlan", i * 0.1, i * 0.1 + 6 if i < 40 else None, "original", 400 * i) for i in range(100)]
    again = [packet("4g", 200 + i * 0.5, 240 + i * 0.5, "reinjection", 400 * i) for i in range(40, 100)]
    late = packet("4g", 300, 340, "reinjection")
    recovery = replace(STANDARD, events=(*flight, *again, late))
    labels = [words(g, recovery, few=False) for path in recovery.paths for g in group(recovery, WINDOW, path)]
    assert labels == [
        "40 packets\n0.0 to 3.9 ms",
        "60 packets lost\n4.0 to 9.9 ms",
        "60 reinjections\n220.0 to 249.5 ms",
        "reinjection on 4G\n300.0 ms",
    ]


def test_packets_outside_the_window_are_left_out() -> None:
    recovery = replace(STANDARD, events=(*STANDARD.events, packet("wlan", 900, None, "retransmission")))
    assert group(recovery, WINDOW, "wlan") == group(STANDARD, WINDOW, "wlan")


def test_a_small_gain_is_told_without_an_arrow(tmp_path: Path) -> None:
    text = text_of([STANDARD, replace(STANDARD, variant="tlp-mp", completed_ns=START + 463 * MS)], tmp_path)
    assert ">gain 1.0 ms<" in text
    assert ">as tlp-std<" in text_of([STANDARD, replace(STANDARD, variant="tlp-mp")], tmp_path)


def test_groups_merge_until_their_labels_fit() -> None:
    rounds = [packet("4g", 20 * i + j, 20 * i + j + 40, "original") for i in range(24) for j in range(3)]
    merged = group(replace(STANDARD, events=tuple(rounds)), WINDOW, "4g")
    assert len(merged) == 1 and len(merged[0].events) == 72


def test_a_large_burst_is_drawn(tmp_path: Path) -> None:
    flight = tuple(packet("wlan", i * 0.1, i * 0.1 + 6, "original", 400 * i) for i in range(900))
    acks = tuple(packet("wlan", i * 0.2 + 6, i * 0.2 + 12, "ack", direction="up", length=0) for i in range(450))
    text = text_of([replace(STANDARD, events=flight + acks, failed_ns=START + 70 * MS)], tmp_path)
    assert ">900 packets<" in text
