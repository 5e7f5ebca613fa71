# SPDX-License-Identifier: Apache-2.0
"""Networks that are graphs: from the file to addresses, routes, joins, taps, and what events are about."""

import json
from itertools import pairwise

import pytest
import yaml
from golden_project import copy_project
from inputs_of_trial import RELEASE

from pathwarp.base.complaints import Complaint, Complaints
from pathwarp.model.overrides import read_overrides
from pathwarp.model.schema.graph import Graph
from pathwarp.plan.addressing import all_lines
from pathwarp.plan.joins import joins
from pathwarp.plan.network import build
from pathwarp.plan.orders import plan_of
from pathwarp.plan.request import Request, plan_trials
from pathwarp.plan.taps import taps

FILE = "topologies/two-paths.yaml"
SHAPE = {"rate": "10 Mbit/s", "delay": "5 ms", "queue": "50 packets"}
BOTH = {"down": SHAPE, "up": SHAPE}


def link(near, far, **more):
    return {"between": [near, far], "mtu": "1500 B", **more}


def graph(links, paths, hosts=("server", "client"), routers=()):
    return {
        "name": "two-paths",
        "title": "a graph",
        "hosts": list(hosts),
        "routers": list(routers),
        "links": {name: link(*ends, **more) for name, (ends, more) in links.items()},
        "paths": paths,
    }


# The server has one link, the client two; both paths share the one in the middle.
SHARED = graph(
    {
        "access": (("server", "left"), {}),
        "middle": (("left", "right"), BOTH),
        "near": (("right", "client"), BOTH),
        "far": (("right", "client"), BOTH),
    },
    {"near": ["access", "middle", "near"], "far": ["access", "middle", "far"]},
    routers=("left", "right"),
)


@pytest.fixture
def project(tmp_path):
    return copy_project(tmp_path / "project")


def plan(project, data, *overrides):
    # Copied, so that no part is an alias of another.
    (project / FILE).write_text(yaml.safe_dump(json.loads(json.dumps(data)), sort_keys=False))
    complaints: list[Complaint] = []
    chosen = read_overrides(overrides, complaints)
    assert not complaints
    (trial,) = plan_trials(Request(project, "cut", ("plain",), runs=1, overrides=chosen))
    return json.loads(json.dumps(plan_of(trial, RELEASE)))


def complaints_of(project, data, *overrides):
    with pytest.raises(Complaints) as caught:
        plan(project, data, *overrides)
    return [f"{one.where}: {one.what}" for one in caught.value.complaints]


def test_the_short_form_is_a_graph_of_links_between_hosts(project):
    short = yaml.safe_load((project / FILE).read_text())
    paths = short.pop("paths")
    links = {name: {key: value for key, value in path.items() if key != "middle"} for name, path in paths.items()}
    for one in links.values():
        one["between"] = short["hosts"]
    (trial,) = plan_trials(Request(project, "cut", ("plain",), runs=1))
    expected = json.dumps(plan_of(trial, RELEASE))
    for name, path in paths.items():
        expected = expected.replace(f'"{path["middle"]}"', f'"{name}.wire"')
    found = plan(project, {**short, "links": links, "paths": {name: [name] for name in links}})
    assert found == json.loads(expected)


def test_addresses_follow_the_position_of_the_link(project):
    found = plan(project, SHARED)
    assert found["addresses"] == {
        "server": {"near": "10.1.0.1", "far": "10.1.0.1"},
        "client": {"near": "10.3.1.1", "far": "10.4.1.1"},
    }
    assert found["interfaces"]["server"] == {"near": "access", "far": "access"}


def test_routers_lead_to_what_they_are_not_connected_to(project):
    lines = plan(project, SHARED)["network"]["lines"]
    routes = {node: [line for line in own if line.startswith("route")] for node, own in lines.items()}
    assert routes["left"] == [
        "route add 10.3.1.1 via 10.2.0.254 dev middle",
        "route add 10.4.1.1 via 10.2.0.254 dev middle",
    ]
    assert routes["right"] == [
        "route add 10.3.1.1 via 10.3.0.254 dev near",
        "route add 10.1.0.1 via 10.2.0.1 dev middle",
        "route add 10.4.1.1 via 10.4.0.254 dev far",
    ]


def test_routers_part_paths_to_one_address_by_their_source():
    """Up, both of the client's paths lead to the server's only address, over other routers each."""
    data = graph(
        {
            "near": (("client", "edge"), {}),
            "far": (("client", "edge"), {}),
            "upper": (("edge", "north"), BOTH),
            "lower": (("edge", "south"), BOTH),
            "north": (("north", "core"), {}),
            "south": (("south", "core"), {}),
            "access": (("core", "server"), {}),
        },
        {"near": ["near", "upper", "north", "access"], "far": ["far", "lower", "south", "access"]},
        routers=("edge", "north", "south", "core"),
    )
    network = build(Graph.model_validate(data))
    lines = all_lines(network, {}, "near")
    assert [line for line in lines["edge"] if line.startswith(("route", "rule"))] == [
        "rule add from 10.1.0.1 to 10.7.0.1 lookup 1",
        "route replace 10.7.0.1 via 10.3.0.254 dev upper table 1",
        "rule add from 10.2.0.1 to 10.7.0.1 lookup 2",
        "route replace 10.7.0.1 via 10.4.0.254 dev lower table 2",
    ]


def test_where_hosts_send_to_one_network_from_two_interfaces_the_preferred_path_does(project):
    lines = plan(project, SHARED, "preferred-path=far")["network"]["lines"]["client"]
    (line,) = (line for line in lines if line.startswith("route add 10.1.0.0/24"))
    assert line.endswith("dev far")


def test_a_direction_that_leaves_a_host_is_shaped_behind_it(project):
    data = graph(
        {"near": (("server", "hub"), BOTH), "far": (("hub", "client"), {"down": SHAPE})},
        {"near": ["near", "far"]},
        routers=("hub",),
    )
    network = plan(project, data)["network"]
    assert network["routers"] == ["hub", "near.wire"]
    places = {(one["link"], one["direction"]): (one["node"], one["interface"]) for one in network["shapes"]}
    assert places == {
        ("near", "down"): ("near.wire", "hub"),
        ("near", "up"): ("hub", "near"),
        ("far", "down"): ("hub", "far"),
    }


def test_subflows_are_announced_by_the_receiver_or_opened_by_the_sender():
    shared = build(Graph.model_validate(SHARED))
    for ends, how in ((("server", "client"), "signal"), (("client", "server"), "subflow")):
        near, far = shared.paths(*ends)
        (join,) = joins(shared, [far, near])
        own = {"path": "near", "host": "client", "address": "10.3.1.1", "interface": "near"}
        assert join == {**own, "how": how}


def test_single_packets_are_lost_ahead_of_a_link_that_no_other_path_has():
    found = taps(build(Graph.model_validate(SHARED)), ("server", "client"))
    assert found["near"]["data"] == {"node": "right", "interface": "near"}
    assert found["far"]["data"] == {"node": "right", "interface": "far"}


def test_paths_that_share_all_links_towards_the_sender_have_no_place_for_lost_acknowledgments(project):
    data = json.loads(json.dumps(SHARED))
    for name in ("near", "far"):
        del data["links"][name]["up"]
    assert complaints_of(project, data, "losses=[{burst: 0, position: last}]", "events=[]") == [
        f"{FILE}: paths.near: has no link of its own behind client, so its single packets can't be told from other "
        "paths'"
    ]


def test_failures_are_of_one_path(project):
    events = "events=[{at: 4 s, path: middle, fail: blackhole, until: 6 s}]"
    assert complaints_of(project, SHARED, events) == [
        "scenarios/cut.yaml: events.0: the link middle is of the paths near, far, and a failure is of one"
    ]


def test_links_of_several_paths_can_change(project):
    events = plan(project, SHARED, "events=[{at: 4 s, path: middle, change: {rate: 1 Mbit/s}, direction: down}]")[
        "events"
    ]
    (event,) = events
    assert (event["link"], event["path"]) == ("middle", None)
    (step,) = event["steps"]
    assert [step["shape"][way]["rate_bit_s"] for way in ("down", "up")] == [1_000_000, 10_000_000]


def test_a_failure_of_a_link_is_one_of_its_path(project):
    begin, end = plan(project, SHARED, "events=[{at: 4 s, path: near, fail: blackhole, until: 6 s}]")["events"]
    assert (begin["link"], begin["path"], begin["path_is"], end["path_is"]) == ("near", "near", "down", "up")
    assert begin["steps"] == [
        {"do": "tc", "node": "near.wire", "lines": ["qdisc replace dev right root handle 2: blackhole"]},
        {"do": "tc", "node": "right", "lines": ["qdisc replace dev near root handle 2: blackhole"]},
    ]


def test_the_receivers_interface_goes_down_where_its_path_ends(project):
    begin, _ = plan(project, SHARED, "events=[{at: 4 s, path: far, fail: interface-down, until: 6 s}]")["events"]
    assert begin["steps"] == [{"do": "ip", "node": "client", "lines": ["link set dev far down"]}]


def test_links_without_a_shape_can_neither_change_nor_fail(project):
    events = "events=[{at: 4 s, path: access, change: {rate: 1 Mbit/s}}]"
    assert complaints_of(project, SHARED, events) == [
        "scenarios/cut.yaml: events.0: the link access has no shape down and up"
    ]


def test_a_preferred_path_is_one_of_the_data(project):
    data = graph(
        {**{name: (one["between"], {}) for name, one in SHARED["links"].items()}, "side": (("left", "load"), {})},
        {**SHARED["paths"], "cross": ["side", "middle", "far"]},
        hosts=("server", "client", "load"),
        routers=("left", "right"),
    )
    found = complaints_of(project, data, "preferred-path=cross", "events=[]")
    assert found == ["scenarios/cut.yaml as set: preferred-path: 'cross' is not a path of the topology two-paths"]


def test_there_are_at_most_50_nodes_and_8_links_at_a_host(project):
    routers = [f"r{number}" for number in range(49)]
    links = {f"s{number}": (("server", router), {}) for number, router in enumerate(routers[:9])}
    links |= {f"c{number}": ((router, "client"), {}) for number, router in enumerate(routers[:9])}
    found = complaints_of(project, graph(links, {"near": ["s0", "c0"], "far": ["s1", "c1"]}, routers=routers))
    assert found[:1] == [f"{FILE}:3: hosts: 51 hosts and routers"]
    assert found[1].startswith(f"{FILE}:4: hosts.0: server has 9 links: s0, s1,")
    assert found[2].startswith(f"{FILE}:5: hosts.1: client has 9 links: c0, c1,")
    assert len(found) == 3


def test_fifty_nodes_in_a_row_are_a_path(project):
    routers = [f"r{number}" for number in range(48)]
    nodes = ["server", *routers, "client"]
    links = {f"l{i}": (ends, {"down": SHAPE}) for i, ends in enumerate(pairwise(nodes))}
    data = graph(links, {"near": list(links)}, routers=routers)
    found = plan(project, data, "events=[]")
    assert len(found["network"]["routers"]) == 49, "and a node for the shape that leaves the server"
    assert found["network"]["lines"]["r20"][-2:] == [
        "route add 10.49.0.1 via 10.22.0.254 dev l21",
        "route add 10.1.0.1 via 10.21.0.1 dev l20",
    ]


@pytest.mark.parametrize(
    ("paths", "what"),
    [
        ({"near": ["near", "middle", "access"]}, None),
        ({"near": ["access", "near"]}, ".1: isn't connected: access leads to left, near is between right and client"),
        ({"near": ["access", "middle"]}, ": ends at right, which is a router"),
        ({"near": ["middle", "near"]}, ": ends at left, which is a router"),
        ({"near": ["near", "far"]}, ": passes right twice: right - client - right"),
    ],
)
def test_paths_lead_from_host_to_host_in_either_direction(project, paths, what):
    data = {**SHARED, "paths": paths}
    if what is None:
        found = plan(project, data, "events=[]")
        assert found["addresses"]["client"] == {"near": "10.3.1.1"}
    else:
        assert f"{FILE}" in (first := complaints_of(project, data, "events=[]")[0])
        assert first.endswith(f"paths.near{what}")
