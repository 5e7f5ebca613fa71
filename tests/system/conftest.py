# SPDX-License-Identifier: Apache-2.0
"""The command as its user calls it, in a project folder of the test's own."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Project:
    """A project folder and the command in it."""

    root: Path

    def start(self, *arguments: str, under: tuple[str, ...] = ()) -> subprocess.Popen:
        """Start the engine's command in a process group of its own; `under` is a command that runs another."""
        return subprocess.Popen(
            [*under, sys.executable, "-m", "pathwarp", "--root", str(self.root), *arguments],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def call(self, *arguments: str, under: tuple[str, ...] = ()) -> tuple[int, str, str]:
        """Run the command: exit status, standard output, standard error."""
        process = self.start(*arguments, under=under)
        output, errors = process.communicate()
        return process.returncode, output, errors

    def make(self, *arguments: str) -> subprocess.CompletedProcess:
        """Run make in the project folder."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
        # The engine is a link to the checkout, which it would take for the project.
        environment["PATHWARP_ROOT"] = str(self.root)
        command = ["make", *arguments]
        return subprocess.run(
            command,
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def sealed(self) -> list[Path]:
        """All sealed run folders."""
        return sorted(path.parent for path in (self.root / "results").glob("[!.]*/*/*/seed-*/manifest.json"))

    def unsealed(self) -> list[Path]:
        """Whatever is left of trials at work."""
        return list((self.root / "results" / ".in-progress").glob("*"))


@pytest.fixture(scope="session")
def flooded(tmp_path_factory, make_project) -> Project:
    """A project with a sealed trial of each variant that saturates both paths, which lose packets."""
    project = Project(make_project(tmp_path_factory.mktemp("flooded")))
    status, _, errors = project.call("run", "--scenario", "flooded", "--variant", "all")
    assert status == 0, errors
    return project


@pytest.fixture
def project(tmp_path, make_project) -> Project:
    return Project(make_project(tmp_path))
