# SPDX-License-Identifier: Apache-2.0
"""The drawing of a topology: where nodes stand, what stands at links, and the command that makes it."""

import json

import pytest
import yaml
from golden_project import copy_project

from pathwarp.cli import main
from pathwarp.model.schema.graph import Graph
from pathwarp.model.schema.jitter import Jitter
from pathwarp.model.schema.topology import Shape, Topology
from pathwarp.plan.network import build
from pathwarp.present.layers import lay_out
from pathwarp.present.topology import draw, shape_words

SHAPE = {"rate": "10 Mbit/s", "delay": "5 ms", "queue": "50 packets"}


@pytest.fixture
def project(tmp_path):
    return copy_project(tmp_path / "project")


def crossed(number):
    """A bottleneck that the hosts of as many further paths cross."""
    hosts = ["server", "client"]
    links = {"access": ["server", "left"], "middle": ["left", "right"], "last": ["right", "client"]}
    paths = {"main": ["access", "middle", "last"]}
    for one in range(number):
        hosts += [f"from{one}", f"to{one}"]
        links |= {f"f{one}": [f"from{one}", "left"], f"t{one}": ["right", f"to{one}"]}
        paths[f"cross{one}"] = [f"f{one}", "middle", f"t{one}"]
    return Graph.model_validate(
        {
            "name": "crossed",
            "title": "cross traffic",
            "hosts": hosts,
            "routers": ["left", "right"],
            "links": {
                name: {"between": ends, "mtu": "1500 B"} | ({"down": SHAPE} if name == "middle" else {})
                for name, ends in links.items()
            },
            "paths": paths,
        }
    )


def test_data_goes_from_left_to_right_and_cross_traffic_beside_it():
    topology = crossed(3)
    drawing = lay_out(build(topology), topology.ends())
    columns = {}
    for node, (x, _) in drawing.nodes.items():
        columns.setdefault(x, set()).add(node)
    assert [columns[x] for x in sorted(columns)] == [
        {"server", "from0", "from1", "from2"},
        {"left"},
        {"right"},
        {"client", "to0", "to1", "to2"},
    ]
    assert len(set(drawing.nodes.values())) == len(drawing.nodes), "each node has a place of its own"


def test_paths_over_several_links_do_not_run_through_nodes():
    data = json.loads(crossed(0).model_dump_json(by_alias=True))
    assert data["hosts"] == ["server", "client"]
    topology = Graph.model_validate(
        {
            "name": "bypass",
            "title": "a link around two routers",
            "hosts": ["server", "client"],
            "routers": ["left", "right"],
            "links": {
                "a": {"between": ["server", "left"], "mtu": "1500 B"},
                "b": {"between": ["left", "right"], "mtu": "1500 B"},
                "c": {"between": ["right", "client"], "mtu": "1500 B"},
                "d": {"between": ["server", "client"], "mtu": "1500 B", "down": SHAPE},
            },
            "paths": {"near": ["d"], "far": ["a", "b", "c"]},
        }
    )
    drawing = lay_out(build(topology), topology.ends())
    bends = drawing.lines["d"][1:-1]
    assert bends
    assert not set(bends) & set(drawing.nodes.values())


def test_a_shape_is_told_with_its_units():
    shape = Shape.model_validate({**SHAPE, "delay": "1500 us", "loss": {"mean": "1 %", "burst": "4 packets"}})
    shaky = shape.model_copy(
        update={"jitter": Jitter.model_validate({"spread": "300 us", "kind": "pareto"}), "loss": None}
    )
    assert shape_words(shaky) == "10 Mbit/s · 1.5 ms ± 300 us pareto · 50 packets"
    assert shape_words(shape) == "10 Mbit/s · 1.5 ms · 50 packets · 1 % loss in bursts of 4"


def test_the_drawing_has_every_name_and_is_the_same_each_time(tmp_path):
    topology = crossed(5)
    svg, png = draw(topology, tmp_path / "a")
    text = svg.read_text()
    for name in (*topology.hosts, *topology.routers, *topology.links, "10 Mbit/s · 5 ms · 50 packets"):
        assert name in text
    assert [path.read_bytes() for path in draw(topology, tmp_path / "b")] == [svg.read_bytes(), png.read_bytes()]


def test_fifty_nodes_fit(tmp_path):
    svg, _ = draw(crossed(23), tmp_path)
    assert "to22" in svg.read_text()


def test_the_short_form_shows_its_middles(project, tmp_path):
    topology = Topology.model_validate(yaml.safe_load((project / "topologies/two-paths.yaml").read_text()))
    svg, _ = draw(topology, tmp_path)
    assert all(path.middle in svg.read_text() for path in topology.paths.values())


def test_the_command_draws_into_the_results(project, capsys):
    assert main(["--root", str(project), "topology", "--name", "two-paths"]) == 0
    assert sorted(path.name for path in (project / "results/topologies").iterdir()) == [
        "two-paths.png",
        "two-paths.svg",
    ]


def test_a_setting_is_drawn(project, tmp_path, capsys):
    options = ["--set", "topology.paths.near.down.rate=7 Mbit/s", "--out", str(tmp_path)]
    assert main(["--root", str(project), "topology", "--name", "two-paths", *options]) == 0
    assert "7 Mbit/s" in (tmp_path / "two-paths.svg").read_text()


def test_an_unknown_topology_is_named(project, capsys):
    assert main(["--root", str(project), "topology", "--name", "two-path"]) == 2
    assert "did you mean two-paths?" in capsys.readouterr().err
    assert not (project / "results").exists()
