# SPDX-License-Identifier: Apache-2.0
"""Sealed folders with other files, and a manifest that says so."""

import json
from pathlib import Path

from pathwarp.base.atomic import write_json
from pathwarp.base.hashing import with_own_hash
from pathwarp.results.manifest import file_hashes, one_hash


def reseal(folder: Path) -> None:
    """Make the manifest fit changed files."""
    manifest = json.loads((folder / "manifest.json").read_text())
    files = file_hashes(folder)
    manifest |= {"files": files, "files_sha256": one_hash(files)}
    write_json(folder / "manifest.json", with_own_hash(manifest, "manifest_sha256"))
