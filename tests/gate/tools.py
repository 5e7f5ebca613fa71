# SPDX-License-Identifier: Apache-2.0
"""Running the tools that judge the project's own files, on the project and on copies with a planted fault."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What is generated, and what git keeps.
NOT_OURS = {".git", ".hypothesis", ".pytest_cache", ".ruff_cache", ".vagrant", "build", "results"}
# The tools of requirements-test.txt, and what they call, are where this Python is.
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"


def own_files() -> list[Path]:
    """All files of the project, relative to it."""
    entries = [entry for entry in ROOT.iterdir() if entry.name not in NOT_OURS]
    files = [file for entry in entries for file in (entry.rglob("*") if entry.is_dir() else [entry])]
    return sorted(file.relative_to(ROOT) for file in files if file.is_file() and "__pycache__" not in file.parts)


def judge(command: Sequence[str | Path], folder: Path = ROOT) -> tuple[int, str]:
    """Run a tool in a folder; its exit status and all that it says."""
    environment = {**os.environ, "PATH": PATH, "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise AssertionError(f"there is no {command[0]} on this machine; `make test` installs it") from None
    return done.returncode, done.stdout


def assert_content(command: Sequence[str | Path], folder: Path = ROOT) -> None:
    """Fail with what the tool says unless it is content."""
    status, said = judge(command, folder)
    assert status == 0, said


def plant(folder: Path, files: dict[str, str], settings: Sequence[str] = ("pyproject.toml",)) -> Path:
    """A folder with a few files and the project's own settings of the tools."""
    for name in settings:
        shutil.copy2(ROOT / name, folder / name)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder
