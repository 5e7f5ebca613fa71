# SPDX-License-Identifier: Apache-2.0
"""Files that are written whole or not at all: under another name first, then renamed over what was there."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from pathwarp.base import interrupt
from pathwarp.base.complaints import Complaints


def write_whole(path: Path, content: str | bytes) -> None:
    """Put `content` into `path`, text as UTF-8 with its ends of line as they are; OSError where that cannot be."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def write_json(path: Path, data: object) -> None:
    """Write JSON with sorted keys and an end of line; OSError where that cannot be."""
    write_whole(path, json.dumps(data, indent=1, sort_keys=True, allow_nan=False) + "\n")


def write_data_file(path: Path, text: str) -> None:
    """Write a file where the user wants it; a missing folder is made. Complaints where that cannot be."""
    interrupt.check()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
    except OSError as error:
        valid = "a file in a folder that may be written"
        raise Complaints.one(str(path), f"cannot be written: {error.strerror}", valid) from None


def drafts(path: Path) -> Iterator[Path]:
    """What processes that were killed while they wrote `path` left beside it; those that still write have none."""
    for draft in path.parent.glob(f".{path.name}.*"):
        writer = draft.name.rpartition(".")[2]
        if writer.isdigit() and not Path("/proc", writer).exists():
            yield draft
