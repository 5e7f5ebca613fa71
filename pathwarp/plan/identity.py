# SPDX-License-Identifier: Apache-2.0
"""The trial id: the SHA-256 of all that a guest gets, so that equal ids mean equal raw files."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypedDict

FORMAT = 2
GUEST = Path("pathwarp", "guest")


class Inputs(TypedDict):
    """What a trial's raw files depend on, as its manifest has it; hashes are SHA-256 in hexadecimal.

    `orders` are the files in the run folder and `guest` the code, by relative path. `boot` are the words of the command
    that boots the guest, with names in place of the host's folders; `boot_files` what it is booted and its log is
    decoded with; `ground` what guests run on here, where results may depend on that. `lab` is of the lab root's
    packages and recipe.
    """

    orders: Mapping[str, str]
    boot: Sequence[str]
    boot_files: Mapping[str, str]
    guest: Mapping[str, str]
    ground: str
    kernel: str
    lab: Mapping[str, str]


def trial_id(inputs: Inputs) -> str:
    """SHA-256 of the inputs. Titles, numbers of runs and the choice of metrics are none: to edit them voids nothing."""
    text = json.dumps([FORMAT, inputs], sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def hash_orders(orders: Mapping[str, bytes]) -> dict[str, str]:
    """File to the hash of its content."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in sorted(orders.items())}


def hash_files(root: Path, names: Iterable[str | Path]) -> dict[str, str]:
    """File to the hash of its content, by the path relative to `root`; of a folder all files in it."""
    files = [file for name in names for file in _files(root / name)]
    return hash_orders({file.relative_to(root).as_posix(): file.read_bytes() for file in files})


def guest_files(root: Path) -> list[Path]:
    """The modules that run in guests, those of subpackages too, relative to the guest's folder."""
    folder = root / GUEST
    found = sorted(path.relative_to(folder) for path in folder.rglob("*.py") if path.is_file())
    return [path for path in found if "__pycache__" not in path.parts]


def _files(path: Path) -> list[Path]:
    return [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
