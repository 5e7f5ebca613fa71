# SPDX-License-Identifier: Apache-2.0
"""A small project folder that is right in every respect, for tests to copy and to break."""

import shutil
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden"
DATA_FILES = sorted(path.relative_to(GOLDEN / "project").as_posix() for path in (GOLDEN / "project").rglob("*.yaml"))


def copy_project(folder: Path, overlay: Path | None = None) -> Path:
    """Copy the project to `folder`, with the files of `overlay` in place of its own."""
    shutil.copytree(GOLDEN / "project", folder)
    if overlay:
        shutil.copytree(overlay, folder, dirs_exist_ok=True)
    return folder
