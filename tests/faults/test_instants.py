# SPDX-License-Identifier: Apache-2.0
"""A request to end at instants of all that a command does: it ends the command, or comes too late, and nothing else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from project_folder import ROOT, Project
from undisturbed import RUN, assert_nobody_left, hashes

INTERRUPTED = "pathwarp: interrupted\n"
CASES = {
    # Each has what is to be changed in the project first, and what the undisturbed command comes to.
    "all-sealed": ((), 0, ""),
    "bad-recipe": (("vms/lab.yaml", "suite: ", "suite: Not/A/Suite # "), 2, "vms/lab.yaml:"),
    "bad-scenario": (("scenarios/silent.yaml", "fail: blackhole", "fail: blckhole"), 2, "scenarios/silent.yaml:"),
}
HELD = Path(__file__).with_name("instants.py")


@pytest.fixture
def sealed(project, undisturbed) -> Project:
    """A project of its own, in which all trials are sealed."""
    (project.root / "results").symlink_to(undisturbed.project.root / "results")
    return project


@pytest.mark.parametrize("case", CASES)
def test_a_request_to_end_at_many_instants(pytestconfig, sealed, undisturbed, tmp_path, case):
    change, status, words = CASES[case]
    if change:
        sealed.replace(*change)
    folder = tmp_path / "printed"
    folder.mkdir()
    number = pytestconfig.getoption("--instants") // len(CASES)
    before = sorted(sealed.root.rglob("*"))
    done = subprocess.run(
        [sys.executable, str(HELD), str(number), str(folder), "--root", str(sealed.root), *RUN],
        cwd=ROOT,
        # The same instants each time, as far as the machine lets them be.
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    report = json.loads(done.stdout)
    output, errors = printed(folder, "undisturbed")
    assert report["status"] == status, errors
    assert words in errors
    assert len(report["instants"]) == number
    ended = 0
    for place, (where, found) in enumerate(report["instants"]):
        seen = printed(folder, str(place))
        if found == 130:
            ended += 1
            assert seen[1].strip() + "\n" == INTERRUPTED, (where, seen)
            assert output.startswith(seen[0]), (where, seen)
        else:
            assert (found, *seen) == (status, output, errors), where
    # All but those behind the last safe point; reading the data files, where there are many, is the most of it.
    assert ended > number * 0.8
    print(f"{case}: {number} of {report['total']} instants, {ended} ended the command, {number - ended} came too late")
    assert sorted(sealed.root.rglob("*")) == before
    assert hashes(sealed) == undisturbed.trials
    assert_nobody_left(sealed.root)


def printed(folder: Path, name: str) -> tuple[str, str]:
    return (folder / f"{name}.out").read_text(), (folder / f"{name}.err").read_text()
