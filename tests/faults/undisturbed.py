# SPDX-License-Identifier: Apache-2.0
"""What a run comes to that nothing disturbs, and holding a disturbed one against it."""

import json
import time
from dataclasses import dataclass
from pathlib import Path

from project_folder import Project, left_over

from pathwarp.measure.code import measuring_code
from pathwarp.results.integrity import check_results

RUN = ("run", "--scenario", "silent", "--traffic", "single", "--variant", "tlp-std,tlp-mp", "--runs", "2")


@dataclass(frozen=True)
class Undisturbed:
    """A run's seconds, its table, and the hash over all raw files of each trial by the trial's folder."""

    project: Project
    seconds: float
    table: str
    trials: dict[str, str]

    @classmethod
    def run(cls, project: Project, command: tuple[str, ...]) -> "Undisturbed":
        begin = time.monotonic()
        status, output, errors = project.call(*command)
        seconds = time.monotonic() - begin
        assert status == 0, output + errors
        return cls(project, seconds, table_of(output), hashes(project))


def table_of(output: str) -> str:
    """The table at the end of what a run prints, without the last line, which has the folder."""
    return output[output.index("variant  traffic") : output.index("results: ")]


def hashes(project: Project) -> dict[str, str]:
    """The trials that are sealed: folder to the hash over all raw files."""
    results = project.root / "results"
    return {
        str(folder.relative_to(results)): json.loads((folder / "manifest.json").read_text())["files_sha256"]
        for folder in project.sealed()
    }


def assert_nothing_half_made(project: Project, expected: dict[str, str]) -> None:
    """What has a result's name is a whole result, as it was sealed, and that of an undisturbed run."""
    results = project.root / "results"
    folders = [folder for folder in results.glob("[!.]*/*/*/*") if "figures" not in folder.parts]
    assert [folder for folder in folders if folder not in project.sealed()] == []
    assert [
        problem
        for checked in check_results(results, measuring_code())
        for problem in (*checked.problems, *checked.unusable)
    ] == []
    found = hashes(project)
    assert {name: expected[name] for name in found} == found


def assert_no_traceback(*texts: str) -> None:
    """A guest's console, which a failed trial shows, may have one; the engine not."""
    for text in texts:
        assert not [line for line in text.splitlines() if "Traceback" in line and not line.startswith("    | ")], text


def assert_nobody_left(folder: Path) -> None:
    assert left_over(folder) == {}
