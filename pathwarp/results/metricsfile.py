# SPDX-License-Identifier: Apache-2.0
"""`metrics.json` of a sealed run folder, and the record in it: which measuring code made it, from which raw files.

The two are one file, so that no interruption can leave metrics with the record of others.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from pathwarp.base.atomic import drafts, write_whole
from pathwarp.base.complaints import Complaints, Exit
from pathwarp.base.formats import check_format
from pathwarp.base.hashing import hash_file, own_hash
from pathwarp.base.jsonfile import read_mapping
from pathwarp.results.manifest import one_hash

METRICS = "metrics.json"
RECORD = "record"
RECORD_FORMAT = 1
# The formats of metrics and of their records that are read.
FORMATS, RECORD_FORMATS = (1,), (1,)
AGAIN = "`make measure` makes it again from the raw files"


class State(Enum):
    """What the metrics of a sealed folder are; all but CURRENT have to be made."""

    CURRENT = "up to date"
    OUTDATED = "made by other measuring code"
    MISSING = "not made yet"
    UNUSABLE = "damaged, of another format, or made from other raw files"


@dataclass(frozen=True)
class Measured:
    """Metrics as they are in a folder; `code` is the hash of the code that made them, "" when nobody wrote it down."""

    metrics: dict[str, Any]
    code: str


def write_metrics(folder: Path, metrics: Mapping[str, Any], code: str, files: Mapping[str, str]) -> dict[str, Any]:
    """Put metrics with their record into a run folder, whole or not at all; returns them as they are read again.

    `code` is the hash of the measuring code, `files` are the hashes of the raw files; OSError when it can't be written.
    """
    recorded = record(metrics, code, files)
    lines = (f"{json.dumps(key)}: {json.dumps(recorded[key], sort_keys=True)}" for key in sorted(recorded))
    write_whole(folder / METRICS, "{\n" + ",\n".join(lines) + "\n}\n")
    for draft in drafts(folder / METRICS):
        draft.unlink(missing_ok=True)
    return recorded


def record(metrics: Mapping[str, Any], code: str, files: Mapping[str, str]) -> dict[str, Any]:
    """The metrics, as JSON has them, with their record."""
    plain = json.loads(json.dumps(metrics, allow_nan=False))
    said = {
        "format": RECORD_FORMAT,
        "measuring_code_sha256": code,
        "files_sha256": one_hash(files),
        "metrics_sha256": own_hash(plain, RECORD),
    }
    return {**plain, RECORD: said}


def read_metrics(folder: Path, manifest: Mapping[str, Any]) -> Measured:
    """The metrics of a sealed folder with this manifest.

    FileNotFoundError when it has none; Complaints when they can't be read, are not as they were written, are of an
    unknown format, or were made from other raw files.
    """
    file = folder / METRICS
    try:
        metrics = read_mapping(file)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _unusable(file, f"can't be read: {error.strerror}") from None
    except ValueError as error:
        raise _unusable(file, str(error)) from None
    hint = f"another version of pathwarp wrote it; {AGAIN}"
    check_format(metrics, FORMATS, file, hint)
    if RECORD not in metrics:
        return _read_unrecorded(file, metrics, manifest)
    said = metrics[RECORD] if isinstance(metrics[RECORD], dict) else {}
    check_format(said, RECORD_FORMATS, f"{file}: {RECORD}", hint)
    if said.get("metrics_sha256") != own_hash(metrics, RECORD):
        raise _unusable(file, "damaged since it was measured")
    if said.get("files_sha256") != one_hash(manifest["files"]):
        raise _unusable(file, "made from other raw files than those of the manifest")
    return Measured(metrics, str(said.get("measuring_code_sha256")))


def state(folder: Path, manifest: Mapping[str, Any], code: str) -> tuple[State, Complaints | None]:
    """What a folder's metrics are to measuring code of that hash, and what is wrong with those that are UNUSABLE."""
    try:
        measured = read_metrics(folder, manifest)
    except FileNotFoundError:
        return State.MISSING, None
    except Complaints as complaints:
        return State.UNUSABLE, complaints
    return State.CURRENT if measured.code == code else State.OUTDATED, None


def _read_unrecorded(file: Path, metrics: dict[str, Any], manifest: Mapping[str, Any]) -> Measured:
    """Metrics of before there were records; a manifest of format 1 has their hash, but for the oldest."""
    measured = manifest.get("measured")
    if isinstance(measured, dict) and measured.get(METRICS) != hash_file(file):
        raise _unusable(file, "damaged since it was sealed")
    return Measured(metrics, "")


def _unusable(file: Path, what: str) -> Complaints:
    return Complaints.one(str(file), what, hint=AGAIN, code=Exit.FAILED)
