# SPDX-License-Identifier: Apache-2.0
"""What a product was made from, and how it gets into its place all at once or not at all."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pathwarp.base.jsonfile import read_mapping


def hash_parts(parts: Iterable[tuple[str, bytes]]) -> str:
    """SHA-256, in hexadecimal, of named contents in their order; a byte moved from one to the next changes it."""
    total = hashlib.sha256()
    for name, content in parts:
        total.update(f"{name}\0{len(content)}\0".encode())
        total.update(content)
    return total.hexdigest()


def hash_file(path: Path) -> str:
    """SHA-256 of a file of any size, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_stamp(path: Path) -> dict:
    """The JSON mapping in `path`; empty when there is none, or none that can be read."""
    try:
        return read_mapping(path)
    except (OSError, ValueError):
        return {}


def write_stamp(path: Path, data: dict) -> None:
    path.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n")


@contextmanager
def work_folder(root: Path, name: str) -> Iterator[Path]:
    """A new empty folder below `build/work`, on the file system of the products; gone at the end of the block.

    A killed build leaves its own behind, which nobody takes for a product and `prepare` clears away.
    """
    work = root / "build" / "work"
    work.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=work))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def publish(root: Path, made: Path, place: Path) -> None:
    """Put the folder `made` in `place` by a rename, instead of the one that may be there."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with work_folder(root, "old") as old:
        if place.exists():
            os.rename(place, old / "was")
        os.rename(made, place)
