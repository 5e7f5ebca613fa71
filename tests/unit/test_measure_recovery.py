# SPDX-License-Identifier: Apache-2.0
"""From the columns of a trial's captures to the packets of a timing diagram."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from pathwarp.measure import bursts, recovery
from pathwarp.measure.inputs import Failure
from pathwarp.measure.transports import reinjections
from pathwarp.measure.transports.packets import Packets
from pathwarp.measure.transports.subflows import Connection, Subflow
from pathwarp.results.reading import TrialResult

MS = 1_000_000
START = 1_700_000_000 * 10**9
WLAN = Subflow("wlan", (1, 5000), (2, 8999), 0, 0, joined=False)
CELL = Subflow("4g", (3, 5001), (4, 8999), 0, 0, joined=True)


def packets(rows: list[tuple]) -> Packets:
    """Rows of (ms, path, subflow sequence number, offset, length, arrival in ms or None)."""
    at, path, seq, offset, length, arrival = zip(*rows, strict=True)
    arrival_ns = [-1 if ms is None else START + round(ms * MS) for ms in arrival]
    columns = {
        "time_ns": [START + round(ms * MS) for ms in at],
        "path": path,
        "subflow": path,
        "seq": seq,
        "offset": offset,
        "length": length,
        "arrival_ns": arrival_ns,
    }
    table = {name: np.array(column, np.int64) for name, column in columns.items()}
    return Packets(**table, delivered=table["arrival_ns"] >= 0)


def answers(rows: list[tuple], flow: Subflow) -> SimpleNamespace:
    """A capture with nothing but the receiver's answers on a subflow: (ms, IP identification, ACK number)."""
    at, ident, ack = zip(*rows, strict=True) if rows else ((), (), ())
    own = {"src": flow.receiver[0], "dst": flow.sender[0], "sport": flow.receiver[1], "dport": flow.sender[1]}
    same = {name: np.full(len(rows), number) for name, number in (own | {"payload_len": 0}).items()}
    time_ns = np.array([START + round(ms * MS) for ms in at], np.int64)
    return SimpleNamespace(tcp=SimpleNamespace(time_ns=time_ns, ident=np.array(ident), ack=np.array(ack), **same))


def read(
    monkeypatch: pytest.MonkeyPatch, rows: list[tuple], counters: dict[str, int], acks: dict | None = None
) -> recovery.Recovery:
    """The recovery of a trial with three bursts of 400 B, the second of which met the failure and took 300 ms."""
    table = packets(rows)
    plan = {"bursts": [[0, 400], [1000, 400], [2000, 400]], "packet_bytes": 1400}
    flows = {"wlan": WLAN, "4g": CELL}
    analysis = SimpleNamespace(
        inputs=SimpleNamespace(paths=["wlan", "4g"], ends=("server", "client")),
        decoded={
            (host, path): answers((acks or {}).get((host, path), []), flows[path])
            for host in ("server", "client")
            for path in flows
        },
        connection=Connection([WLAN, CELL], 1),
        packets=table,
        resent=reinjections.classify(table),
        bursts=bursts.lay_out(plan),
        messages=SimpleNamespace(number=np.array([1, 2, 3]), sent_ns=np.array([0, START - 1000, 0])),
        failure=Failure("wlan", START - 5 * MS, None, heard=False),
    )
    monkeypatch.setattr(recovery, "analyse", lambda folder: analysis)
    metrics = {
        "affected_burst": 1,
        "affected_burst_completion_time_ms": 300.0,
        "counters": {"server": counters, "client": {}},
    }
    return recovery.read_recovery(TrialResult("s", "tlp-mp", "docs", 1, metrics, folder=Path()))


BEFORE = (-1000, 0, 1, 0, 400, -994)
LOST = (0, 0, 401, 400, 400, None)
PROBE = (212, 0, 401, 400, 400, None)
AGAIN = (424, 0, 401, 400, 400, None)
PROBED = {"TcpExtTCPLossProbes": 1}


def kinds(found: recovery.Recovery) -> list[tuple[str, str]]:
    return [(event.path, event.kind.key) for event in found.events]


def test_probe_then_rto_then_reinjection(monkeypatch: pytest.MonkeyPatch) -> None:
    found = read(monkeypatch, [BEFORE, LOST, PROBE, AGAIN, (424, 1, 1, 400, 400, 464)], PROBED)
    assert kinds(found) == [
        ("wlan", "original"), ("wlan", "probe"), ("wlan", "retransmission"), ("4g", "reinjection"),
    ]  # fmt: skip
    assert [event.arrived_ns for event in found.events] == [None, None, None, START + 464 * MS]
    assert {(event.offset, event.length) for event in found.events} == {(0, 400)}
    assert (found.start_ns, found.completed_ns) == (START, START - 1000 + 300 * MS)
    assert found.flight_ns == {"wlan": 6 * MS, "4g": 40 * MS}
    assert (found.failed_path, found.failed_ns, found.ends) == ("wlan", START - 5 * MS, ("server", "client"))


def test_without_probes_in_the_kernels_counters_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "probe" not in dict(map(reversed, kinds(read(monkeypatch, [BEFORE, LOST, PROBE], {}))))


def test_copy_of_the_probe_on_another_subflow(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [BEFORE, LOST, PROBE, (212.02, 1, 1, 400, 400, 252), AGAIN]
    copied = read(monkeypatch, rows, PROBED | {"MPTcpExtProbeOther": 1})
    assert kinds(copied)[1:3] == [("wlan", "probe"), ("4g", "probe")]
    # The same packets where the kernel reinjects all at PTO: not a probe.
    assert kinds(read(monkeypatch, rows, PROBED))[1:3] == [("wlan", "probe"), ("4g", "reinjection")]


def test_copy_that_had_to_wait_but_not_beyond_the_rto(monkeypatch: pytest.MonkeyPatch) -> None:
    for copied_ms, kind in ((300, "probe"), (424.5, "reinjection")):
        rows = sorted([BEFORE, LOST, PROBE, AGAIN, (copied_ms, 1, 1, 400, 400, 500)])
        found = read(monkeypatch, rows, PROBED | {"MPTcpExtProbeOther": 1})
        assert [event.kind.key for event in found.events if event.path == "4g"] == [kind]


def test_probe_with_new_data_and_its_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [BEFORE, LOST, (212, 0, 801, 800, 400, None), (212, 1, 1, 800, 400, 252)]
    found = read(monkeypatch, rows, PROBED | {"MPTcpExtProbeOther": 1})
    assert kinds(found) == [("wlan", "original"), ("wlan", "probe"), ("4g", "probe")]
    assert [event.label for event in found.events] == ["", "next burst", "next burst"]


def test_retransmission_of_an_earlier_segment_is_no_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [BEFORE, LOST, (1, 0, 801, 800, 400, None), AGAIN]
    assert kinds(read(monkeypatch, rows, PROBED))[-1] == ("wlan", "retransmission")


def test_an_answer_in_between_allows_another_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    acks = {("server", "wlan"): [(300, 7, 401)], ("client", "wlan"): [(290, 7, 401)]}
    found = read(monkeypatch, [BEFORE, LOST, PROBE, AGAIN], PROBED, acks)
    assert kinds(found) == [("wlan", "original"), ("wlan", "probe"), ("wlan", "ack"), ("wlan", "probe")]


def test_acks_that_arrive_and_that_are_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    acks = {("client", "4g"): [(252, 1, 401), (253, 2, 401)], ("server", "4g"): [(292, 1, 401)]}
    found = read(monkeypatch, [BEFORE, LOST], {}, acks)
    arrivals = [event.arrived_ns for event in found.events if event.kind.key == "ack"]
    assert arrivals == [START + 292 * MS, None]


def test_a_trial_whose_failure_met_no_burst_has_no_diagram() -> None:
    trial = TrialResult("s", "v", "t", 1, {"affected_burst": None}, folder=Path())
    assert recovery.read_recovery(trial) is None
