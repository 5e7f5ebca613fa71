# SPDX-License-Identifier: Apache-2.0
"""Grids: their points, which of them are chosen, and what each comes to in the data files."""

import pytest
from golden_project import copy_project

from pathwarp.base.complaints import Complaint, Complaints
from pathwarp.commands.options import read_at
from pathwarp.model.overrides import Override
from pathwarp.model.points import points_of
from pathwarp.model.schema.grid import Axis
from pathwarp.plan.request import Request, plan_trials

GRID = {
    "loss": Axis.model_validate({"set": "topology.paths.near.down.loss", "values": ["0 %", "1 %"]}),
    "rtt": Axis.model_validate(
        {
            "set": ["topology.paths.near.down.delay", "topology.paths.near.up.delay"],
            "values": {"12 ms": "6 ms", "lopsided": ["1 ms", "9 ms"]},
        }
    ),
}


def at(text: str) -> tuple[tuple[str, str], ...]:
    complaints: list[Complaint] = []
    found = read_at(text, complaints)
    assert complaints == []
    return found


def test_the_product_in_the_order_of_the_file():
    assert [str(point) for point in points_of(GRID, (), ())] == [
        "loss=0 %,rtt=12 ms",
        "loss=0 %,rtt=lopsided",
        "loss=1 %,rtt=12 ms",
        "loss=1 %,rtt=lopsided",
    ]
    assert points_of(GRID, (), ())[-1].label == "@loss=1pct,rtt=lopsided"
    (none,) = points_of({}, (), ())
    assert (none.label, none.overrides) == ("", ())


def test_a_point_sets_every_key_of_its_axes():
    (point,) = points_of(GRID, at("loss=1 %, rtt=lopsided"), ())
    assert point.overrides == (
        Override("topology.paths.near.down.delay", '"1 ms"'),
        Override("topology.paths.near.down.loss", '"1 %"'),
        Override("topology.paths.near.up.delay", '"9 ms"'),
    )


def test_an_axis_may_begin_at_the_value_of_another():
    one = {"set": "losses.0.position", "values": [1, 2, 3]}
    grid = {
        "first": Axis.model_validate(one),
        "second": Axis.model_validate({**one, "set": "losses.1.position", "from": "first"}),
    }
    pairs = ["1,1", "1,2", "1,3", "2,2", "2,3", "3,3"]
    assert [",".join(value for _, value in point.values) for point in points_of(grid, (), ())] == pairs
    assert [str(point) for point in points_of(grid, at("second=2"), ())] == ["first=1,second=2", "first=2,second=2"]
    assert points_of(grid, at("first=3,second=1"), ()) == []


def test_only_points_that_there_are_count():
    values = [str(number) for number in range(150)]
    square = {name: Axis.model_validate({"set": name, "values": values}) for name in ("a", "b")}
    with pytest.raises(Complaints, match="has 22500 points"):
        points_of(square, (), ())
    triangle = {**square, "b": Axis.model_validate({"set": "b", "values": values, "from": "a"})}
    with pytest.raises(Complaints, match="has 11325 points"):
        points_of(triangle, (), ())


def test_values_of_one_axis_are_alternatives():
    assert [str(point) for point in points_of(GRID, at("loss=1 %,loss=0 %,rtt=12 ms"), ())] == [
        "loss=0 %,rtt=12 ms",
        "loss=1 %,rtt=12 ms",
    ]


@pytest.mark.parametrize(
    ("chosen", "own", "words"),
    [
        ((("los", "1 %"),), (), "there is no axis 'los'"),
        ((("loss", "2 %"),), (), "'2 %' is no value of the axis"),
        ((), (Override("topology.paths.near.down.loss", "1 %"),), "is what the axis loss of the grid sets"),
        ((), (Override("topology.paths.near.down.loss.mean", "1 %"),), "is what the axis loss of the grid sets"),
    ],
)
def test_what_a_grid_has_not(chosen, own, words):
    with pytest.raises(Complaints, match=words):
        points_of(GRID, chosen, own)


def test_too_many_points_have_to_be_wanted():
    many = {
        name: Axis.model_validate({"set": f"sysctls.net.{name}", "values": list(range(101))}) for name in ("a", "b")
    }
    with pytest.raises(Complaints, match="has 10201 points"):
        points_of(many, (), ())
    assert len(points_of(many, (), (), many=True)) == 10_201


def test_what_is_no_point_is_said():
    complaints: list[Complaint] = []
    assert read_at("loss, =1, a=, b=1", complaints) == (("b", "1"),)
    assert len(complaints) == 3


def test_trials_are_those_of_each_point(tmp_path):
    project = copy_project(tmp_path / "project")
    scenario = project / "scenarios" / "cut.yaml"
    axes = ("loss: {set: topology.paths.near.down.loss, values: [0 %, 1 %]}", "end: {set: duration, values: [9 s]}")
    grid = "\n  ".join(("grid:", *axes)) + "\n"
    scenario.write_text(scenario.read_text() + grid)
    wanted = Request(project, "cut", variants=("plain",), traffic=("pings",), runs=1)
    first, second = plan_trials(wanted)
    assert [trial.topology.paths["near"].down.loss.mean_fraction for trial in (first, second)] == [0, 0.01]
    assert {trial.virtual_s for trial in (first, second)} == {9}
    assert first.folder.as_posix() == "results/cut@loss=0pct,end=9s/plain/pings/seed-001"
    assert second.title == "cut at loss=1 %,end=9 s plain pings seed 1"
    assert "'at=loss=1 %,end=9 s'" in second.command
    (chosen,) = plan_trials(Request(**{**vars(wanted), "at": (("loss", "1 %"),)}))
    assert chosen.folder == second.folder
