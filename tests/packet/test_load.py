# SPDX-License-Identifier: Apache-2.0
"""Flows beside the data: each sends what its file says, in its own time, and is told from all others."""

import pytest
from conftest import run

from pathwarp.measure.apps import ditg
from pathwarp.measure.metrics import rounded
from pathwarp.model.overrides import Override
from pathwarp.plan.request import Request, plan_trials

RATE_MBPS = 20


@pytest.fixture(scope="module")
def trial(tmp_path_factory, make_project):
    root = make_project(tmp_path_factory.mktemp("flows"))
    return run(root, {"flows": plan_trials(Request(root, "flows"))[0]})["flows"]


@pytest.fixture(scope="module")
def metrics(trial):
    return trial.metrics


@pytest.fixture(scope="module")
def flows(metrics):
    return {flow["flow"]: flow for flow in metrics["flows"]}


@pytest.fixture(scope="module")
def log(trial):
    """Flow -> what its receiver read."""
    start_ns = trial.guest["flow_start_ns"]
    return lambda name: ditg.read(trial.folder / f"logs/load-{name}-receiver.txt", start_ns)


def test_a_constant_rate_is_constant(log, flows):
    steady = log("steady")
    assert (steady.size == 1000).all()
    gaps_ms = (steady.sent_ns[1:] - steady.sent_ns[:-1]) / 1e6
    assert gaps_ms.min() == pytest.approx(10, abs=0.1)
    assert gaps_ms.max() == pytest.approx(10, abs=0.1)
    assert flows["steady"]["packets_sent"] == pytest.approx(300, abs=2)


def test_exponential_times_vary_as_much_as_they_are_long(log):
    drawn = log("drawn")
    gaps_ms = (drawn.sent_ns[1:] - drawn.sent_ns[:-1]) / 1e6
    # 600 packets: the mean of an exponential sample is within 4 standard errors.
    assert gaps_ms.mean() == pytest.approx(5, rel=4 / len(gaps_ms) ** 0.5)
    assert gaps_ms.std() == pytest.approx(5, rel=0.25)


def test_pareto_times_part_bursts(log):
    bursts = log("bursts")
    gaps_ms = (bursts.sent_ns[1:] - bursts.sent_ns[:-1]) / 1e6
    pauses = gaps_ms[gaps_ms > 50]
    assert len(pauses) >= 2
    assert pauses.min() >= 95, "no pause is shorter than the shortest"


def test_a_flow_starts_and_stops_in_its_time(trial, log):
    sent_s = (log("late").sent_ns - trial.guest["flow_start_ns"]) / 1e9
    assert 1.0 <= sent_s.min() < 1.1
    # Its send buffer is full after some milliseconds and the link never empties it, so its sender waits until the stop.
    assert sent_s.max() < 2.0


def test_what_was_sent_and_not_lost_was_read(flows, log):
    for name in ("steady", "drawn"):
        arrived = flows[name]["packets_sent"] - flows[name]["lost_packets"]
        assert flows[name]["messages_read"] == arrived == len(log(name))


def test_two_connections_between_the_same_hosts_are_told_apart(trial, flows):
    """Each data packet of the server is of one flow; each flow's carry what its own receiver read."""
    assert flows["rival"]["messages_read"] > 100
    assert flows["data"]["messages_read"] > 100
    payload = trial.analysis.packets.end.max()
    assert payload >= trial.analysis.messages.size.sum()
    server = trial.analysis.decoded["server", "wlan"].tcp
    to_client = [trial.analysis.inputs.address("client", path) for path in ("wlan", "4g")]
    sent = sum(int(((server.dst == address) & (server.payload_len > 0)).sum()) for address in to_client)
    assert flows["data"]["packets_sent"] + flows["rival"]["packets_sent"] == sent
    for name in ("data", "rival"):
        least = flows[name]["messages_read"] * (1400 if name == "data" else 1000) / 1448
        assert flows[name]["packets_sent"] >= least


def test_all_share_the_bottleneck(trial, metrics, log):
    logs = [trial.analysis.messages, *(log(name) for name in ("rival", "drawn", "late"))]
    end_ns = trial.guest["flow_start_ns"] + 3_000_000_000
    read_mbps = sum(int(one.size[one.read_ns < end_ns].sum()) for one in logs) * 8 / 3 / 1e6
    # Headers, retransmissions and slow starts are the rest, and what MPTCP's receivers hold back behind a gap.
    assert RATE_MBPS / 2 < read_mbps < RATE_MBPS
    assert metrics["fairness_index"]["middle from left"]["flows"] == 4
    assert metrics["fairness_index"]["middle from right"]["flows"] == 2


def test_a_packet_is_lost_by_its_number_among_all_flows(tmp_path, make_project):
    """300 and 303 of what two connections send to the client over WLAN; links are queues, which keep the order."""
    root = make_project(tmp_path)
    wanted = 300, 303
    losses = ", ".join(f"{{of: link, path: wlan, position: {number}}}" for number in wanted)
    (planned,) = plan_trials(Request(root, "flows", overrides=(Override("losses", f"[{losses}]"),)))
    trial = run(root, {"flows": planned})["flows"]
    entries = trial.metrics["exact_losses"]
    inputs = trial.analysis.inputs
    server, client = (trial.analysis.decoded[host, "wlan"].tcp for host in ("server", "client"))
    came = set(names(client))
    number, found = 0, {}
    for row, name in enumerate(names(server)):
        if server.dst[row] != inputs.address("client", "wlan") or not server.payload_len[row]:
            continue
        sent_s = rounded((int(server.time_ns[row]) - inputs.flow_start_ns) / 1e9)
        entry = next((entry for entry in entries if entry["lost"][0]["sent_s"] == sent_s and name not in came), None)
        # What the bottleneck's queue dropped never came to the link behind it.
        number += bool(entry) or name in came
        if entry:
            assert [end.rpartition(":")[2] for end in (entry["from"], entry["to"])] == [str(port) for port in name[:2]]
            found[entry["number"]] = number
    assert found == {number: number for number in wanted}


def names(table) -> list[tuple[int, ...]]:
    """Of each segment what no other one has."""
    return list(zip(*(column.tolist() for column in (table.sport, table.dport, table.ident, table.seq)), strict=True))
