# SPDX-License-Identifier: Apache-2.0
"""Networks that are graphs: paths over shared links, many interfaces, and either end of the connection having them."""

from itertools import pairwise

import pytest
from conftest import Observation, run

from pathwarp.model.overrides import Override
from pathwarp.plan.request import Request, plan_trials

GRAPHS = ("bottleneck", "upload", "wide", "near-graph", "near")
# Of the link in the middle of bottleneck.yaml, and what each path adds behind it.
RATE_BIT_S, BEHIND_NS = 20_000_000, {"wlan": 2_000_000, "4g": 30_000_000}
# Bytes of Ethernet, IPv4 and TCP without options, and those of a data packet over MPTCP at least.
HEADERS = 14 + 20 + 20 + 12


@pytest.fixture(scope="module")
def graphs(tmp_path_factory, make_project):
    """Topology -> Observation of two paths and more that are full."""
    root = make_project(tmp_path_factory.mktemp("graphs"))
    trials = {
        topology: trial
        for topology in GRAPHS
        for trial in plan_trials(Request(root, "graph", overrides=(Override("topology", topology),)))
    }
    observations = run(root, trials)
    return lambda key: observations[key]


def captures(trial: Observation) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (trial.folder / "captures").glob("*.pcap")}


def test_paths_share_the_rate_of_the_link_that_both_have(graphs):
    """Packets leave the bottleneck one behind the other, whichever path they are of."""
    trial = graphs("bottleneck")
    came = sorted(
        (packet.arrival_ns - BEHIND_NS[packet.path], packet.length, packet.path)
        for packet in trial.sent_in_all
        if packet.arrival_ns > 0
    )
    assert {path for *_, path in came} == {"wlan", "4g"}
    for (before_ns, *_), (after_ns, length, _) in pairwise(came):
        # The accesses behind it have 1 Gbit/s: a packet takes up to a microsecond per 125 bytes there.
        assert after_ns - before_ns >= (length + HEADERS) * 8_000_000_000 // RATE_BIT_S - 12_200
    goodput = trial.metrics["goodput_mbps"]
    assert 0.9 * RATE_BIT_S < goodput * 1e6 < RATE_BIT_S * 1400 / (1400 + HEADERS)


def test_a_shared_interface_has_each_packet_in_one_capture(graphs):
    trial = graphs("bottleneck")
    assert sorted(captures(trial)) == ["client-4g.pcap", "client-wlan.pcap", "server-access.pcap"]
    sent = trial.metrics["packets_sent"]
    table = trial.analysis.decoded["server", "wlan"].tcp
    assert sum(sent.values()) == int(((table.payload_len > 0) & (table.dport >= 8990)).sum())


@pytest.mark.parametrize(("topology", "number"), [("upload", 3), ("wide", 8)])
def test_every_path_carries_data(graphs, topology, number):
    sent = graphs(topology).metrics["packets_sent"]
    assert len(sent) == number
    assert min(sent.values()) > 500


def test_the_short_form_and_its_graph_are_the_same_network(graphs):
    assert captures(graphs("near")) == captures(graphs("near-graph"))
