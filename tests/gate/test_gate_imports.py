# SPDX-License-Identifier: Apache-2.0
"""Which package may import which (pyproject.toml, importlinter), and that nothing goes round in a circle."""

import ast
import shutil
import sys
from pathlib import Path

import pytest
from tools import ROOT, assert_content, judge

LINT = ("lint-imports", "--no-cache", "--no-logo")
# What the lab root's Python has beside the standard library.
GUEST_HAS = {"mininet"}


@pytest.fixture
def copy(tmp_path) -> Path:
    """A copy of the code and of the tools' settings, to plant faults in."""
    shutil.copytree(ROOT / "pathwarp", tmp_path / "pathwarp", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def add(project: Path, file: str, line: str) -> None:
    with (project / "pathwarp" / file).open("a") as stream:
        stream.write(f"{line}\n")


def foreign(guest: Path) -> list[str]:
    """The guest's imports, with the file in front, of what it has neither itself nor in the lab root."""
    own = {path.stem for path in guest.glob("*.py")} | {path.name for path in guest.iterdir() if path.is_dir()}
    known = sys.stdlib_module_names | own | GUEST_HAS
    found = []
    for path in sorted(guest.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or "." * node.level] if isinstance(node, ast.ImportFrom) else []
            found += [f"{path.name}: {name}" for name in names if name.split(".")[0] not in known]
    return found


def test_imports_point_one_way():
    assert_content(LINT)


def test_the_guest_imports_nothing_that_it_does_not_have():
    assert foreign(ROOT / "pathwarp" / "guest") == []


@pytest.mark.parametrize(
    ("file", "line", "said"),
    [
        (
            "measure/metrics.py",
            "from pathwarp.present import stats",
            "pathwarp.measure is not allowed to import pathwarp.present",
        ),
        ("base/units.py", "import pathwarp.model.catalogue", "pathwarp.base is not allowed to import pathwarp.model"),
        ("wire/pcap.py", "import pathwarp.plan.trial", "pathwarp.wire is not allowed to import pathwarp.plan"),
        ("run/progress.py", "import pathwarp.guest.events", "pathwarp.run is not allowed to import pathwarp.guest"),
        (
            "compare/verify.py",
            "import pathwarp.commands.run",
            "pathwarp.compare is not allowed to import pathwarp.commands",
        ),
        ("wire/tcp.py", "import pathwarp.wire.mptcp", "No cycles are allowed in pathwarp.wire."),
        ("novelty/__init__.py", "", "novelty"),
    ],
)
def test_a_wrong_import_is_found(copy, file, line, said):
    (copy / "pathwarp" / file).parent.mkdir(exist_ok=True)
    add(copy, file, line)
    status, output = judge(LINT, copy)
    assert status == 1, output
    assert said in output


@pytest.mark.parametrize("line", ["from pathwarp.base import units", "import numpy", "from .. import base"])
def test_a_wrong_import_of_the_guest_is_found(copy, line):
    add(copy, "guest/flow.py", f"def f():\n    {line}")
    assert len(foreign(copy / "pathwarp" / "guest")) == 1
