# SPDX-License-Identifier: Apache-2.0
"""What packet and system tests share: a project folder with short scenarios of their own."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Option and, with PATHWARP_ in front, environment variable of the complaint injection: number, what it is of.
FAULT_OPTIONS = {
    "kills": (20, "kills of the runner and of guests at random instants"),
    "mutations": (500, "mutated inputs"),
    "instants": (150, "instants at which a command is asked to end"),
    "fault-seed": (1, "seed of the instants and the mutations"),
}

# How long an example takes says something about the machine, and nothing about the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

ROOT = Path(__file__).resolve().parents[1]
SHORT = Path(__file__).parent / "short"
FROM_CHECKOUT = (
    "Vagrantfile",
    "bin",
    "build",
    "kernels",
    "Makefile",
    "pathwarp",
    "playbooks",
    "requirements.txt",
    "vms",
)


def pytest_addoption(parser):
    for name, (number, what) in FAULT_OPTIONS.items():
        default = int(os.environ.get(f"PATHWARP_{name.upper().replace('-', '_')}", number))
        parser.addoption(f"--{name}", type=int, default=default, help=f"fault injection: {what} (default {number})")


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


def pytest_collection_modifyitems(items):
    """The longest file first, which waits for its machines most of the time while others use the CPUs."""
    items.sort(key=lambda item: item.path.name != "test_machines.py")
