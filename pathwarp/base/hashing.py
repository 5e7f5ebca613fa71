# SPDX-License-Identifier: Apache-2.0
"""SHA-256, in hexadecimal, of what the project keeps: files, named contents, and records that state their own hash."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def hash_parts(parts: Iterable[tuple[str, bytes]]) -> str:
    """The hash of named contents in their order; a byte moved from one to the next changes it."""
    total = hashlib.sha256()
    for name, content in parts:
        total.update(f"{name}\0{len(content)}\0".encode())
        total.update(content)
    return total.hexdigest()


def hash_file(path: Path) -> str:
    """The hash of a file of any size."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def own_hash(record: Mapping[str, Any], line: str) -> str:
    """The hash of a record as JSON without the line (a key) that states it."""
    rest = {key: value for key, value in record.items() if key != line}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def with_own_hash(record: Mapping[str, Any], line: str) -> dict[str, Any]:
    """The record with a line that states its hash."""
    return {**record, line: own_hash(record, line)}


def states_own_hash(record: Mapping[str, Any], line: str) -> bool:
    """Whether a record has that line, and is as it was when the line was written."""
    return record.get(line) == own_hash(record, line)
