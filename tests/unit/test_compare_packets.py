# SPDX-License-Identifier: Apache-2.0
"""Where two trials part, from hand-made run folders."""

import json
from pathlib import Path

import pcap_writer as pcap
import pytest
import trial_writer
from trial_writer import DELAY_MS, TrialWriter

from pathwarp.base.complaints import Exit
from pathwarp.cli import main
from pathwarp.compare.packets.divergence import find_divergence
from pathwarp.compare.packets.report import report
from pathwarp.compare.packets.side import read_sides
from pathwarp.wire.mptcp import token_and_first_dsn

SIZE = 400
PLAN = {
    "scenario": "cut",
    "settings": [],
    "traffic": "pings",
    "seed": 1,
    "bursts": [[0, SIZE], [1000, SIZE], [2000, SIZE]],
}
PROBED = {"TcpExt": {"TCPLossProbes": 1}}


class Writer(TrialWriter):
    """A trial with three bursts of one packet; the failure at 900 ms takes the second one and what follows on WLAN.

    `shift_ms` delays all on WLAN; `random` stands for what another kernel draws: keys, sequence numbers, ports.
    """

    def __init__(self, folder: Path, variant: str = "std", random: int = 0, transport: str = "mptcp") -> None:
        super().__init__(folder, transport, variant=variant, **PLAN)
        self.random = random
        self.keys = (trial_writer.KEYS[0] + random, trial_writer.KEYS[1] + random)
        token = token_and_first_dsn(self.keys[1])[0]
        self.open("wlan", -20, isn=(2**32 - 300 + random) % 2**32, keys=self.keys)
        if transport == "mptcp":
            self.open("4g", 100, isn=7000 + 3 * random, token=token)
        self.fail("wlan", 900)
        self.counters["after"] = {"server": {**PROBED, "MPTcpExt": {"ProbeOther": int(variant == "mp")}}, "client": {}}

    def ends(self, path: str) -> tuple[pcap.End, pcap.End]:
        server, client = super().ends(path)
        return (server[0], server[1] + self.random), client

    def burst(self, path: str, at_ms: float, number: int, **more: object) -> int:
        """Send a burst, or send it again, with the mapping that fits the keys."""
        seq = more.pop("seq", self.next_seq[path])
        mine, theirs = (token_and_first_dsn(key)[1] for key in self.keys)
        mapping = pcap.dss(mine + number * SIZE, seq, SIZE, ack=theirs) if self.transport == "mptcp" else None
        return self.send(path, at_ms, number * SIZE, SIZE, seq=seq, mapping=mapping, **more)

    def answer(self, path: str, at_ms: float, ack: int) -> None:
        """An ACK of the path's bytes up to `ack`."""
        server, client = self.ends(path)
        self.ident += 1
        options = pcap.TIMESTAMPS + pcap.dss(ack=token_and_first_dsn(self.keys[0])[1] + ack)
        frame = pcap.segment(client, server, 78, pcap.ACK, 0, options, self.ident, ack=self.isn[path] + ack + 1)
        self.put(path, at_ms, frame, back=True)

    def story(self, copied_ms: float | None = None, shift_ms: float = 0.0) -> "Writer":
        """First burst, loss of the second, probe at 1212 ms (and its copy), RTO with reinjection at 1424 ms, third."""
        self.burst("wlan", 0, 0)
        self.answer("wlan", DELAY_MS["wlan"] + shift_ms, SIZE)
        self.burst("wlan", 1000, 1, lost=True)
        self.burst("wlan", 1212, 1, lost=True, seq=SIZE + 1)
        if copied_ms is not None:
            self.burst("4g", copied_ms, 1)
        self.burst("wlan", 1424, 1, lost=True, seq=SIZE + 1)
        if copied_ms is None:
            self.burst("4g", 1424, 1)
        self.burst("4g", 2000, 2)
        arrival_ms = (1424 if copied_ms is None else copied_ms) + DELAY_MS["4g"]
        for tx_ms, rx_ms in ((0, 6), (1000, arrival_ms), (2000, 2040)):
            self.log(SIZE, tx_ms, rx_ms)
        return self


@pytest.fixture
def two(tmp_path):
    """Two stories -> their run folders."""

    def write(one: Writer, other: Writer) -> tuple[Path, Path]:
        return one.finish(), other.finish()

    return write


def divergence_of(folders: tuple[Path, Path]):
    return find_divergence(*(side.sightings for side in read_sides(*folders)))


def told(folders: tuple[Path, Path]) -> list[str]:
    """What is said of two run folders."""
    sides = read_sides(*folders)
    return list(report(sides, find_divergence(*(side.sightings for side in sides))))


def test_other_random_numbers_are_no_difference(tmp_path, two):
    folders = two(Writer(tmp_path / "a").story(), Writer(tmp_path / "b", random=11).story())
    assert (tmp_path / "a/captures/server-wlan.pcap").read_bytes() != (
        tmp_path / "b/captures/server-wlan.pcap"
    ).read_bytes()
    assert divergence_of(folders) is None
    assert told(folders) == [
        f"std-a  {folders[0]}",
        f"std-b  {folders[1]}",
        "They were given the same, but for: nothing that the plans say",
        "They are the same packet for packet, 23 in all captures.",
    ]


def test_a_probe_that_one_trial_sends_alone(tmp_path, two):
    folders = two(Writer(tmp_path / "a").story(), Writer(tmp_path / "b", "mp", random=5).story(copied_ms=1212))
    lines = told(folders)
    assert lines[2:4] == [
        "They were given the same, but for: variant (std, mp)",
        "They share the first 18 packets of all captures, up to 1.212000 s from the flow's start",
    ]
    at = lines.index("First difference, 1.212000 s from the flow's start:")
    assert lines[at - 3 : at - 1] == [
        "      1.000000 s  server sends on WLAN, subflow 1: new data, 400 B, DSN 400 to 799, seq 401, lost",
        "      1.212000 s  server sends on WLAN, subflow 1: probe, 400 B, DSN 400 to 799, seq 401, lost",
    ]
    assert lines[at + 1 : at + 6] == [
        "  mp: server sends on 4G, subflow 2: probe, 400 B, DSN 400 to 799, seq 1",
        "  std: no such packet at that instant; it has it 212.000000 ms later, as: reinjection, 400 B, "
        "DSN 400 to 799, seq 1",
        "",
        "std goes on:",
        "      1.424000 s  server sends on WLAN, subflow 1: retransmission, 400 B, DSN 400 to 799, seq 401, lost",
    ]


def test_the_diagrams_of_both_trials(tmp_path, two, capsys):
    folders = two(Writer(tmp_path / "a").story(), Writer(tmp_path / "b", "mp").story(copied_ms=1212))
    call = ["--root", str(tmp_path), "diff", *map(str, folders)]
    assert main(call) == Exit.DONE
    figures = tmp_path / "results/cut/figures"
    assert capsys.readouterr().out.splitlines()[-2:] == [f"{figures}/diff-pings-001-std-mp.{k}" for k in ("svg", "png")]
    assert main([*call, "--out", str(tmp_path / "again")]) == Exit.DONE
    for path in figures.iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()
    drawn = (figures / "diff-pings-001-std-mp.svg").read_text()
    for words in ("where std and mp part", "first difference", "212.0 ms", "probe on 4G", "reinjection on 4G", "gain"):
        assert words in drawn


@pytest.mark.parametrize(
    ("place", "manifest", "home"),
    [
        ("results/cut+backend=vm/std/pings/seed-001", None, "cut+backend=vm"),
        ("results/.differs/cut+time=real/std/pings/seed-001", None, "cut+time=real"),
        ("results/.replaced/cut/std/pings/seed-001-0123456789ab", {"backend": "vm"}, "cut"),
        ("elsewhere", {"backend": "vm"}, "cut+backend=vm"),
        ("elsewhere", {"backend": "uml"}, "cut"),
        ("elsewhere", {}, "cut"),
        ("elsewhere", None, "cut"),
        ("results/.in-progress/0123456789ab-77", None, "cut"),
    ],
)
def test_the_diagrams_lie_with_the_results_of_the_first_trials_scenario(tmp_path, two, place, manifest, home):
    folders = two(Writer(tmp_path / place).story(), Writer(tmp_path / "b", "mp").story(copied_ms=1212))
    if manifest is not None:
        (folders[0] / "manifest.json").write_text(json.dumps(manifest))
    assert main(["--root", str(tmp_path), "diff", *map(str, folders)]) == Exit.DONE
    drawn = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.svg"))
    assert drawn == [f"results/{home}/figures/diff-pings-001-std-mp.svg"]


def test_a_shift_by_a_tick_is_told_but_does_not_count(tmp_path, two):
    folders = two(Writer(tmp_path / "a").story(), Writer(tmp_path / "b", "mp").story(copied_ms=1212, shift_ms=256e-6))
    lines = told(folders)
    assert "(up to 256 ns apart, from 0.006000 s on: ticks of the guests' clock):" in lines
    assert "First difference, 1.212000 s from the flow's start:" in lines


def test_a_shift_by_a_tick_counts_when_nothing_else_differs(tmp_path, two):
    folders = two(Writer(tmp_path / "a").story(), Writer(tmp_path / "b").story(shift_ms=256e-6))
    lines = told(folders)
    at = lines.index("First difference, 0.006000 s from the flow's start:")
    assert lines[at + 1 : at + 3] == [
        "  std-a: client sends on WLAN, subflow 1: ACK 401, data ACK 400",
        "  std-b: no such packet at that instant; it has it 0.000256 ms later",
    ]


def test_packets_with_other_values_at_the_same_instant(tmp_path, two):
    writers = [Writer(tmp_path / name) for name in "ab"]
    for number, writer in enumerate(writers):
        writer.answer("4g", 500, number)
        writer.story()
    lines = told(two(*writers))
    at = lines.index("First difference, 0.500000 s from the flow's start:")
    assert lines[at + 1 : at + 4] == [
        "  both: client sends on 4G, subflow 2; it differs in: ACK number, data ACK",
        "  std-a: ACK 1, data ACK 0",
        "  std-b: ACK 2, data ACK 1",
    ]


def test_of_two_packets_at_one_instant_the_one_that_the_other_lacks_is_alone(tmp_path, two):
    writers = [Writer(tmp_path / name) for name in "ab"]
    writers[1].answer("4g", 500, 0)
    for writer in writers:
        writer.answer("4g", 500, 1)
        writer.story()
    divergence = divergence_of(two(*writers))
    assert divergence.alone == 1
    assert divergence.rows[0] is None
    assert divergence.at_ns == 500_000_000


def test_a_trial_whose_captures_end_early(tmp_path, two):
    writers = [Writer(tmp_path / name).story() for name in "ab"]
    writers[0].answer("4g", 2500, 800)
    lines = told(two(*writers))
    assert lines[lines.index("std-b goes on:") + 1] == "  with nothing: its captures end here"
    assert "  std-b: no such packet at that instant, nor later" in lines


def test_handshakes_and_other_packets_are_named(tmp_path, two):
    writers = [Writer(tmp_path / name).story() for name in "ab"]
    writers[1].put("wlan", -30, pcap.frame("10.1.0.1", "10.1.1.1", 1, bytes(8)))
    writers[1].put("wlan", -29, pcap.segment(("10.1.0.1", 9), ("10.1.1.1", 10), 5, pcap.SYN))
    lines = told(two(*writers))
    assert "They share nothing: the first packet differs." in lines
    assert "  std-b: server sends on WLAN, no TCP: IP protocol 1, 28 B" in lines
    assert "     -0.029000 s  server sends on WLAN, another connection: SYN" in lines
    assert "     -0.020000 s  server sends on WLAN, subflow 1: SYN MP_CAPABLE" in lines


def test_plain_tcp_and_mptcp_part_at_the_first_packet(tmp_path, two):
    lines = told(two(Writer(tmp_path / "a", "mp").story(), plain(tmp_path / "b")))
    assert "  both: server sends on WLAN, subflow 1; it differs in: size, MPTCP options" in lines
    assert "  mp: SYN MP_CAPABLE" in lines
    assert "  tcp: SYN" in lines


def plain(folder: Path) -> Writer:
    writer = Writer(folder, "tcp", transport="tcp")
    for number in range(3):
        writer.burst("wlan", 1000 * number, number, lost=number > 0)
    writer.log(SIZE, 0, 6)
    return writer


def test_a_folder_whose_name_is_too_long_is_none(capsys):
    assert main(["diff", "x" * 1000, "y" * 1000]) == Exit.BAD_INPUT
    assert capsys.readouterr().err.count("is not a run folder") == 2


def test_what_is_no_run_folder_or_cannot_be_read(tmp_path, capsys):
    good = Writer(tmp_path / "a").story().finish()
    (tmp_path / "b").mkdir()
    call = ["--root", str(tmp_path), "diff"]
    assert main([*call, str(tmp_path / "b"), str(tmp_path / "c")]) == Exit.BAD_INPUT
    assert "2 faults" in capsys.readouterr().err
    (good / "captures/server-4g.pcap").unlink()
    assert main([*call, str(good), str(good)]) == Exit.FAILED
    assert "server-4g.pcap: No such file" in capsys.readouterr().err
    assert main([*call, str(good)]) == Exit.BAD_INPUT


def test_traffic_without_bursts_is_drawn_around_the_difference(tmp_path, capsys):
    writers = [Writer(tmp_path / "a").story(), Writer(tmp_path / "b", "mp").story(copied_ms=1212)]
    for writer in writers:
        writer.plan = {**writer.plan, "bursts": []}
    assert main(["diff", *(str(writer.finish()) for writer in writers), "--out", str(tmp_path)]) == Exit.DONE
    drawn = (tmp_path / "diff-pings-001-std-mp.svg").read_text()
    assert "ms since the first difference" in drawn
    assert "never" not in drawn
