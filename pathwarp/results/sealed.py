# SPDX-License-Identifier: Apache-2.0
"""Reading the manifest of a sealed run folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pathwarp.base.formats import check_format
from pathwarp.base.hashing import states_own_hash
from pathwarp.base.jsonfile import read_mapping

MANIFEST = "manifest.json"
# The line of a manifest that states its own hash.
OWN_HASH = "manifest_sha256"
# The formats of manifests that are read. The first also speaks of metrics.json, under `measured`.
FORMATS = (1, 2)
_OTHER = "another version of pathwarp sealed it: use that one, or move the folder away and run the trial again"


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a run folder; OSError and ValueError as of `read_mapping`, Complaints for an unknown format."""
    record = read_mapping(folder / MANIFEST)
    check_format(record, FORMATS, folder / MANIFEST, _OTHER)
    if not isinstance(record.get("files"), dict):
        raise ValueError("is not that of a sealed trial: it has no hashes of raw files")
    return record


def is_damaged(manifest: Mapping[str, Any]) -> bool:
    """Whether a manifest is not as it was sealed; the oldest have no line to tell by."""
    return OWN_HASH in manifest and not states_own_hash(manifest, OWN_HASH)


def is_whole(folder: Path) -> bool:
    """Whether a folder's manifest can be read and is as it was sealed; Complaints for an unknown format."""
    try:
        return not is_damaged(read_manifest(folder))
    except (OSError, ValueError):
        return False


def sealed_id(folder: Path) -> str | None:
    """The trial id of a sealed folder; None when the folder isn't there or isn't sealed, "" for a damaged manifest.

    Complaints for a manifest of a format that is unknown.
    """
    try:
        record = read_mapping(folder / MANIFEST)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError):
        return ""
    found = record.get("trial_id")
    if not isinstance(found, str) or "format" not in record:
        return ""
    check_format(record, FORMATS, folder / MANIFEST, _OTHER)
    return found
