# SPDX-License-Identifier: Apache-2.0
"""Ways to run a guest: each has its facts in one file and its doing in another, and nobody else lists them."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from golden_project import copy_project

from pathwarp.compare.agree.ways import WAYS
from pathwarp.model.backends.registry import BACKENDS, DEFAULT_BACKEND
from pathwarp.model.schema.scenario import Scenario
from pathwarp.run.guests.choice import guests_of

ROOT = Path(__file__).parents[2]
FACTS = """
from pathwarp.model.backends.backend import WALL_CLOCK_MODE, Backend, Pace

_PACE = Pace(WALL_CLOCK_MODE, "bare metal", alone=True)
BACKEND = Backend("bare", "on the host", {"virtual": _PACE, "real": _PACE}, "vms/bare.yaml", ("vms/decode.sh",))
"""
GUESTS = """
from pathwarp.run.guests.settings import GuestSettings


class Bare:
    def __init__(self, root):
        self.settings = GuestSettings.model_construct(room_bytes=1)


GUESTS = Bare
"""
ASK = """
import sys
from pathlib import Path
from pathwarp.compare.agree.ways import WAYS
from pathwarp.plan.request import Request, plan_trials
from pathwarp.run.guests.choice import guests_of
root = Path(sys.argv[1])
trial = plan_trials(Request(root, "cut", runs=1, backend="bare"))[0]
print(trial.folder.parts[1], trial.time_mode, WAYS[-1].name, type(guests_of(root, "bare")).__name__, WAYS[0].name)
"""


@pytest.mark.parametrize("name", BACKENDS)
def test_each_has_guests_and_files_that_there_are(name):
    backend = BACKENDS[name]
    assert backend.settings == guests_of(ROOT, name).settings.FILE
    assert all((ROOT / file).exists() for file in backend.boot_files)
    assert set(backend.paces) == set(Scenario.model_fields["time"].annotation.__args__)
    assert bool(backend.why_alone) == backend.alone


def test_the_first_way_is_the_one_that_others_are_compared_with():
    assert [(way.name, way.backend, way.time, way.alone) for way in WAYS] == [
        ("virtual", "uml", "virtual", False),
        ("real UML", "uml", "real", True),
        ("VM", "vm", "virtual", True),
    ]
    assert WAYS[0].backend == DEFAULT_BACKEND


def test_another_one_takes_its_own_files_and_no_other(tmp_path):
    engine = tmp_path / "engine"
    shutil.copytree(ROOT / "pathwarp", engine / "pathwarp", ignore=shutil.ignore_patterns("__pycache__"))
    (engine / "pathwarp/model/backends/bare.py").write_text(FACTS)
    (engine / "pathwarp/run/guests/bare.py").write_text(GUESTS)
    command = [sys.executable, "-c", ASK, str(copy_project(tmp_path / "project"))]
    done = subprocess.run(command, cwd=engine, capture_output=True, text=True, check=False)
    assert (done.stderr, done.stdout) == ("", "cut+backend=bare wall-clock VM Bare virtual\n")


def test_nobody_else_lists_them():
    words = re.compile("|".join(rf"[\"']{name}[\"']" for name in BACKENDS))
    named = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "pathwarp").rglob("*.py")
        if words.search(path.read_text()) and path.parent.name not in ("backends", "guests")
    }
    assert named <= {"pathwarp/commands/build.py"}, named
