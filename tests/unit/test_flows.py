# SPDX-License-Identifier: Apache-2.0
"""Flows beside the data: from the scenario to the guest's orders, and what is measured of them."""

import json
import struct
from dataclasses import replace

import pytest
import yaml
from golden_project import copy_project
from inputs_of_trial import RELEASE

from pathwarp.base.complaints import Complaints
from pathwarp.measure.flows import jain
from pathwarp.plan import signalling
from pathwarp.plan.orders import plan_of
from pathwarp.plan.request import Request, plan_trials
from pathwarp.present.flowtable import render_flows
from pathwarp.results.reading import TrialResult
from pathwarp.wire import pcap, tcp, udp

SHAPE = {"rate": "10 Mbit/s", "delay": "5 ms", "queue": "50 packets"}
TOPOLOGY = {
    "name": "two-paths",
    "title": "two clients behind one bottleneck",
    "hosts": ["server", "client", "other"],
    "routers": ["core"],
    "links": {
        "s": {"between": ["server", "core"], "mtu": "1500 B"},
        "near": {"between": ["core", "client"], "mtu": "1500 B", "down": SHAPE},
        "far": {"between": ["core", "client"], "mtu": "1500 B", "down": SHAPE},
        "o": {"between": ["core", "other"], "mtu": "1500 B", "down": SHAPE},
    },
    "paths": {"near": ["s", "near"], "far": ["s", "far"], "side": ["s", "o"], "across": ["near", "o"]},
}
DATA = {"name": "data", "from": "server", "to": "client", "primary": True}
WORKLOADS = {
    "steady": {"kind": "constant", "rate": "1 Mbit/s"},
    "poisson": {"kind": "exponential", "rate": "100 packets/s"},
    "pareto": {
        "kind": "on-off",
        "rate": "1 Mbit/s",
        "on": {"shape": 1.5, "shortest": "500 ms"},
        "off": {"shape": 1.2, "shortest": "250 ms"},
    },
    "download": {"kind": "greedy"},
}


@pytest.fixture
def project(tmp_path):
    project = copy_project(tmp_path / "project")
    (project / "topologies/two-paths.yaml").write_text(
        yaml.safe_dump(json.loads(json.dumps(TOPOLOGY)), sort_keys=False)
    )
    for name, keys in WORKLOADS.items():
        data = {"name": name, "title": name, "source": "made up", "packet": "1000 B", **keys}
        (project / f"traffic/{name}.yaml").write_text(yaml.safe_dump(data))
    return project


def plan(project, *flows, **request):
    path = project / "scenarios/cut.yaml"
    scenario = yaml.safe_load(path.read_text()) | {"flows": list(flows), "events": []}
    path.write_text(yaml.safe_dump(scenario))
    (trial,) = plan_trials(Request(project, "cut", ("plain",), runs=1, **request))
    return json.loads(json.dumps(plan_of(trial, RELEASE)))


def load(traffic, transport="tcp", **keys):
    return {"name": traffic, "from": "server", "to": "other", "transport": transport, "traffic": traffic, **keys}


def test_a_load_flow_has_its_own_ports_and_times(project):
    found = plan(project, DATA, load("steady"), load("poisson", "udp", start="1 s", stop="3 s"))
    first, second = found["load"]
    assert found["flow"] == "data"
    assert (first["port"], first["signalling_port"]) != (second["port"], second["signalling_port"])
    assert {first["port"], second["port"]} & {found["port"], found["join_port"], found["signalling_port"]} == set()
    assert (first["start_ns"], first["stop_ns"]) == (0, 10_000_000_000)
    assert (second["start_ns"], second["stop_ns"]) == (1_000_000_000, 3_000_000_000)
    assert first["addresses"] == {"server": {"side": "10.1.0.1"}, "other": {"side": "10.4.0.1"}}
    assert first["links"] == {"side": [["s", "server"], ["o", "core"]]}


@pytest.mark.parametrize(
    ("traffic", "sends"),
    [
        ("steady", {"kind": "constant", "packets_s": 125.0}),
        ("poisson", {"kind": "exponential", "packets_s": 100.0}),
        (
            "pareto",
            {
                "kind": "on-off",
                "packets_s": 125.0,
                "on": {"shape": 1.5, "shortest_ns": 500_000_000},
                "off": {"shape": 1.2, "shortest_ns": 250_000_000},
            },
        ),
        ("download", {"kind": "constant", "packets_s": 100_000.0}),
    ],
)
def test_what_each_kind_of_load_sends(project, traffic, sends):
    assert plan(project, DATA, load(traffic))["load"][0]["sends"] == sends


def test_data_may_go_either_way(project):
    found = plan(project, {**DATA, "from": "client", "to": "server"}, load("steady"))
    assert (found["sender"], found["receiver"]) == ("client", "server")
    assert found["addresses"]["client"] == {"near": "10.2.0.1", "far": "10.3.0.1"}
    assert [(join["host"], join["how"]) for join in found["joins"]] == [("client", "subflow")]


def test_flows_over_mptcp_take_all_paths_and_are_joined_once(project):
    more = {"name": "more", "from": "server", "to": "client", "traffic": "download", "transport": "mptcp"}
    found = plan(project, DATA, more)
    assert found["load"][0]["paths"] == ["near", "far"]
    assert len(found["joins"]) == 1


def test_load_over_mptcp_has_its_subflows_beside_a_primary_over_tcp(project):
    more = {"name": "more", "from": "server", "to": "client", "traffic": "download", "transport": "mptcp"}
    with (project / "kernels/variants/plain/variant.yaml").open("a") as file:
        file.write("\ntransport: tcp\n")
    assert plan(project, DATA)["transport"] == "tcp"
    assert plan(project, DATA)["joins"] == []
    assert [join["path"] for join in plan(project, DATA, more)["joins"]] == ["far"]


def test_an_announced_address_is_one_of_each_connection_there(project):
    """The kernel announces it to every connection of the host, and the peer joins if it has any way there."""
    more = {"name": "more", "from": "other", "to": "client", "traffic": "download", "transport": "mptcp"}
    with pytest.raises(Complaints, match="client announces its address on far to the flow more as well"):
        plan(project, DATA, more)


def test_datagrams_that_would_be_cut_are_refused(project):
    path = project / "traffic/poisson.yaml"
    path.write_text(path.read_text().replace("1000 B", "1473 B"))
    plan(project, DATA, load("poisson", "tcp"))
    with pytest.raises(Complaints, match=r"cut.yaml:\d+: flows.1: sends packets of 1473 B over UDP.*\n.*1472 B"):
        plan(project, DATA, load("poisson", "udp"))


def test_every_host_with_a_flow_is_captured_and_gets_signalling(project):
    found = plan(project, DATA, load("steady"), {**load("poisson"), "from": "client", "to": "other"})
    assert {one["host"] for one in found["network"]["captures"]} == {"server", "client", "other"}
    assert found["network"]["routers"][-1] == signalling.HUB
    assert found["management"] == {"server": "10.0.1.1", "client": "10.0.2.1", "other": "10.0.3.1"}


def test_a_list_of_one_flow_is_as_none(project):
    alone = plan(project, DATA)
    assert alone.pop("load") == []
    del alone["flow"], alone["links"]
    path = project / "scenarios/cut.yaml"
    scenario = yaml.safe_load(path.read_text())
    del scenario["flows"]
    path.write_text(yaml.safe_dump(scenario))
    (trial,) = plan_trials(Request(project, "cut", ("plain",), runs=1))
    assert alone == json.loads(json.dumps(plan_of(trial, RELEASE)))


def test_load_is_no_traffic_of_a_scenario(project):
    with pytest.raises(Complaints) as caught:
        plan(project, DATA, traffic=("download",))
    assert "traffic/download.yaml: kind" in {one.where for one in caught.value.complaints}


@pytest.mark.parametrize(
    ("shares", "index"), [([5.0, 5.0, 5.0], 1.0), ([9.0, 0.0, 0.0], 1 / 3), ([4.0, 2.0], 0.9), ([0.0, 0.0], None)]
)
def test_jains_index(shares, index):
    assert jain(shares) == (None if index is None else pytest.approx(index))


def test_udp_ports_of_a_capture(tmp_path):
    def packet(protocol, port):
        header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 36, 1, 0, 64, protocol, 0, bytes(4), bytes(4))
        return bytes(12) + b"\x08\x00" + header + struct.pack(">HHHH", 7, port, 16, 0) + bytes(8)

    packets = [packet(17, 10_001), packet(6, 10_002), packet(17, 10_003)[:40]]
    content = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 128, 1)
    for number, one in enumerate(packets):
        content += struct.pack("<IIII", number, 0, len(one), len(one)) + one
    path = tmp_path / "one.pcap"
    path.write_bytes(content)
    capture = pcap.read(path)
    assert udp.destination_ports(capture, tcp.decode_ipv4(capture)).tolist() == [10_001, 0, 0]


def entry(name, goodput, sent=100, lost=1):
    return {
        "flow": name,
        "sender": "server",
        "receiver": "client",
        "transport": "udp",
        "goodput_mbps": goodput,
        "packets_sent": sent,
        "lost_packets": lost,
        "retransmitted_packets": None,
        "reinjected_packets": None,
        "delay_ms": {"0.5": 12.0, "0.95": 20.0},
    }


def trial(seed, goodput):
    fairness = {"middle from core": {"flows": 2, "index": goodput / 10}}
    metrics = {"flows": [entry("data", goodput), entry("load", 1.0)], "fairness_index": fairness}
    return TrialResult("cut", "plain", "pings", seed, metrics)


def test_the_table_has_each_flow_in_the_mean_over_trials():
    text = "".join(render_flows([trial(1, 4.0), trial(2, 6.0)]))
    assert "plain, pings: flows, means of 2 trials" in text
    lines = {line.split()[0]: line.split() for line in text.splitlines() if line}
    assert lines["data"][:8] == ["data", "udp", "server", "client", "5.00", "100", "1.00", "-"]
    assert "Jain's index of the 2 flows on middle from core: 0.500" in text
    assert "".join(render_flows([TrialResult("cut", "plain", "pings", 1, {})])) == ""


def test_the_points_of_a_grid_have_tables_of_their_own():
    points = [replace(trial(1, goodput), point=(("loss", loss),)) for loss, goodput in (("0 %", 9.0), ("1 %", 1.0))]
    text = "".join(render_flows(points))
    assert "0 %, plain, pings: flows, means of 1 trial" in text
    assert [line.split()[4] for line in text.splitlines() if line.startswith("data")] == ["9.00", "1.00"]
