# SPDX-License-Identifier: Apache-2.0
"""What a sealed run folder says of its raw files: all that they depend on, and the hash of each."""

import hashlib
import json
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pathwarp.base.hashing import hash_file, with_own_hash
from pathwarp.plan.identity import Inputs
from pathwarp.plan.kit import Work
from pathwarp.results.runfolder import RAW_FOLDERS
from pathwarp.results.sealed import OWN_HASH

FORMAT = 2
# What the guest saw that a manifest repeats.
_SEEN = ("sysctls", "qdiscs")


def file_hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of every raw file, by its name relative to the run folder."""
    files = sorted(file for name in RAW_FOLDERS for file in (folder / name).rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): hash_file(file) for file in files}


def one_hash(files: Mapping[str, str]) -> str:
    """One SHA-256 over all: that of the lines which sha256sum prints for the files in the order of their names."""
    lines = (f"{digest}  {name}\n" for name, digest in sorted(files.items()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _machine(folder: Path) -> dict[str, Any]:
    """What a virtual machine ran on; nothing without one."""
    try:
        return {"machine": json.loads((folder / "logs" / "machine.json").read_text())}
    except FileNotFoundError:
        return {}


def manifest(
    trial: Work,
    trial_id: str,
    inputs: Inputs,
    kernel: Mapping[str, Any],
    lab: Mapping[str, Any],
    folder: Path,
    wall_s: float,
    attempts: int = 1,
) -> dict[str, Any]:
    """The manifest of a trial, or of other work, with its raw files.

    `kernel` and `lab` are the build records (`build.json`, `lab.json`), `attempts` is how many it took until the trial
    did not fail.
    """
    guest = json.loads((folder / "logs" / "guest.json").read_text())
    files = file_hashes(folder)
    record = {
        "format": FORMAT,
        "trial_id": trial_id,
        **trial.describe(),
        "variant": {"name": trial.variant.name, "transport": trial.variant.transport, "sysctls": trial.variant.sysctls},
        "seed": trial.seed,
        "kernel": {**kernel, "release": guest["release"]},
        "lab": lab,
        "inputs": inputs,
        **{seen: guest[seen] for seen in _SEEN if seen in guest},
        "backend": trial.backend,
        **_machine(folder),
        "time_mode": trial.time_mode,
        "tools": {"python": platform.python_version()},
        "virtual_s": trial.virtual_s,
        "wall_s": round(wall_s, 3),
        "attempts": attempts,
        "files": files,
        "files_sha256": one_hash(files),
    }
    return with_own_hash(record, OWN_HASH)
