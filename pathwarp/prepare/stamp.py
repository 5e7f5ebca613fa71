# SPDX-License-Identifier: Apache-2.0
"""What a product was made from, and how it gets into its place all at once or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pathwarp.base.atomic import write_json
from pathwarp.base.formats import check_format
from pathwarp.base.jsonfile import read_mapping

# The formats of stamps that are read unless their reader says otherwise; the first ones said none.
FORMATS = (1,)


def read_stamp(path: Path, formats: Sequence[int] = FORMATS) -> dict[str, Any]:
    """The JSON mapping in `path`; empty when there is none, or none that can be read.

    Complaints (something failed) for one of a format that is unknown.
    """
    try:
        stamp = read_mapping(path)
    except (OSError, ValueError):
        return {}
    if stamp:
        hint = f"another version of pathwarp made it: remove {path.parent}, and it is made again"
        check_format(stamp, formats, path, hint, absent=FORMATS[0])
    return stamp


def write_stamp(path: Path, data: dict[str, Any]) -> None:
    """Write a stamp, with its format, which is the first unless it says so itself."""
    write_json(path, {"format": FORMATS[0], **data})


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
