# SPDX-License-Identifier: Apache-2.0
"""A checkout with the engine's ways in, in which a test may change what it likes."""

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
REQUIREMENTS = ("requirements.txt", "requirements-test.txt")


def make_engine(folder: Path) -> Path:
    """Copy what there is between a command line and the commands; the environment is that of the tests."""
    installed = folder / "build" / "venv" / "installed"
    installed.mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", folder)
    for name in ("bin", "pathwarp", "playbooks"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in REQUIREMENTS:
        shutil.copy(ROOT / name, folder)
        shutil.copy(ROOT / name, installed)
    python = installed.parent / "bin" / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return folder
