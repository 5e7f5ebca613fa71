# SPDX-License-Identifier: Apache-2.0
"""Kinds of event: each is told in one file, and another one takes no more than that."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from golden_project import copy_project

from pathwarp.model.events.registry import EVENT_KINDS, FAILURES
from pathwarp.plan.orders import FORMAT

ROOT = Path(__file__).parents[2]
# The receiver's gateway forgets it, and remembers it again.
NEW = """
from pathwarp.model.events.kind import EventKind, Phase, ip

KIND = EventKind(
    "forgotten",
    begin=Phase("begin", lambda site: [ip(site.leaves[1][0], [f"neigh del {site.address} dev {site.leaves[1][1]}"])]),
    between=(Phase("retry", lambda site: [], option="retry-after", otherwise="nothing is tried again"),),
    end=Phase("end", lambda site: []),
)
"""
PLAN = """
import json, sys
from pathlib import Path
from pathwarp.base.complaints import Complaints
from pathwarp.model.overrides import read_overrides
from pathwarp.plan.orders import plan_of
from pathwarp.plan.request import Request, plan_trials
chosen = read_overrides([f"events=[{{at: 4 s, path: near, {sys.argv[2]}, until: 6 s}}]"], [])
try:
    trial = plan_trials(Request(Path(sys.argv[1]), "cut", overrides=chosen, runs=1))[0]
except Complaints as complaints:
    sys.exit(str(complaints))
print(json.dumps(plan_of(trial, "")["events"]))
"""


@pytest.fixture
def plan_with(tmp_path):
    """Text of one event -> the orders, or what is wrong with it, by an engine that has the new kind's file."""
    package = tmp_path / "engine" / "pathwarp"
    shutil.copytree(ROOT / "pathwarp", package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "model/events/forgotten.py").write_text(NEW)
    project = copy_project(tmp_path / "project")

    def run(event: str):
        command = [sys.executable, "-c", PLAN, str(project), event]
        done = subprocess.run(command, cwd=package.parent, capture_output=True, text=True, check=False)
        return done.stderr if done.returncode else json.loads(done.stdout)

    return run


def test_another_kind_is_one_file(plan_with):
    begins, retries, ends = plan_with("fail: forgotten, retry-after: 500 ms")
    assert (begins["path_is"], begins["heard"], begins["expect"]) == ("down", False, ["near", "far"])
    assert begins["steps"] == [{"do": "ip", "node": "left", "lines": ["neigh del 10.1.1.1 dev client"]}]
    assert (retries["at_s"], retries["phase"], ends["path_is"]) == (4.5, "retry", "up")
    assert "valid: address-removed, blackhole, forgotten, interface-down" in plan_with("fail: forgoten")
    assert "retry-after: is for fail: forgotten only" in plan_with("fail: blackhole, retry-after: 1 s")


def test_nobody_else_names_a_kind():
    """Neither the engine nor the guest; docs and texts of help may."""
    words = re.compile("|".join(rf"[\"']{name}[\"']" for name in FAILURES))
    homes = {f"{name.replace('-', '_')}.py" for name in EVENT_KINDS}
    named = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "pathwarp").rglob("*.py")
        if words.search(path.read_text()) and not (path.parent.name == "events" and path.name in homes)
    ]
    # What guests of format 1 called them.
    assert named == ["pathwarp/measure/inputs.py"]


def test_the_guest_can_take_every_step_of_every_kind():
    source = (ROOT / "pathwarp/guest/events.py").read_text()
    known = set(re.findall(r'^    "(\w+)": _', source, re.MULTILINE))
    made = set(re.findall(r'"do": "(\w+)"', (ROOT / "pathwarp/model/events/kind.py").read_text()))
    assert made == known


def test_the_guest_knows_the_orders_of_now():
    known = re.search(r"^_FORMATS = \((.*)\)$", (ROOT / "pathwarp/guest/trial.py").read_text(), re.MULTILINE)
    assert FORMAT in [int(number) for number in known[1].split(",") if number.strip()]
