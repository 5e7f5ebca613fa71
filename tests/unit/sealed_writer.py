# SPDX-License-Identifier: Apache-2.0
"""Hand-made sealed folders, of the format of now and of the one before."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pathwarp.base.atomic import write_json
from pathwarp.base.hashing import with_own_hash
from pathwarp.measure.code import measuring_code
from pathwarp.results.manifest import file_hashes, one_hash
from pathwarp.results.metricsfile import write_metrics


def seal(
    folder: Path, metrics: Mapping[str, Any] | None = None, number: int = 2, code: str = "", **more: object
) -> Path:
    """Seal the raw files in a folder (RESULTS/SCENARIO/VARIANT/TRAFFIC/seed-NNN), with metrics where some are given.

    `number` is the manifest's format. In format 1 the manifest has the hash of metrics.json, and that has no record;
    in format 2 it has one of `code`, or of the code of now.
    """
    folder.mkdir(parents=True, exist_ok=True)
    variant, traffic, seed = folder.parts[-3:]
    files = file_hashes(folder)
    manifest: dict[str, Any] = {
        "format": number,
        "trial_id": "f" * 64,
        "seed": int(seed[-3:]),
        "variant": {"name": variant},
        "traffic": {"name": traffic},
        "files": files,
        "files_sha256": one_hash(files),
        "wall_s": 1.25,
        **more,
    }
    if metrics is not None and number > 1:
        write_metrics(folder, {"format": 1, **metrics}, code or measuring_code(), files)
    elif metrics is not None:
        write_json(folder / "metrics.json", {"format": 1, **metrics})
        digest = hashlib.sha256((folder / "metrics.json").read_bytes()).hexdigest()
        manifest["measured"] = {"metrics.json": digest}
    write_json(folder / "manifest.json", with_own_hash(manifest, "manifest_sha256"))
    return folder
