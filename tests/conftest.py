# SPDX-License-Identifier: Apache-2.0
"""What packet and system tests share: a project folder with short scenarios of their own."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHORT = Path(__file__).parent / "short"
FROM_CHECKOUT = ("build", "kernels", "Makefile", "pathwarp", "playbooks", "requirements.txt", "vms")


@pytest.fixture(scope="session")
def make_project():
    """Folder -> project folder there, with the tests' own data files, or others, and the rest from the checkout."""

    def make(folder: Path, data: Path = SHORT) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("scenarios", "topologies", "traffic"):
            (folder / name).symlink_to(data / name)
        for name in FROM_CHECKOUT:
            (folder / name).symlink_to(ROOT / name)
        return folder

    return make
