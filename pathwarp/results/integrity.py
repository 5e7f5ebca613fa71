# SPDX-License-Identifier: Apache-2.0
"""Hash sealed run folders again and hold them against their manifests."""

import os
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pathwarp.base import interrupt
from pathwarp.base.complaints import Complaint, Complaints, Exit
from pathwarp.base.hashing import hash_file
from pathwarp.base.jsonfile import read_mapping
from pathwarp.model.catalogue import suggest
from pathwarp.results.manifest import METRICS, own_hash
from pathwarp.results.runfolder import MANIFEST

_AGAIN = "`make check-results` names all that is damaged; remove the folder and run the trial again"
_SEALED = "*/*/seed-*"  # below a scenario's folder: variant, traffic, seed


@dataclass(frozen=True)
class Checked:
    """A sealed folder: how many files it has, of how many bytes, and what is wrong with which of them."""

    folder: Path
    files: int
    size_bytes: int
    problems: tuple[str, ...]


def check_results(results: Path, scenario: str = "") -> Iterator[Checked]:
    """Check all sealed folders, or those of one scenario with whatever settings, in the order of their names.

    Raises Complaints for a scenario that has none.
    """
    scenarios = [path.name for path in results.glob("[!.]*") if path.is_dir()]
    chosen = sorted(name for name in scenarios if not scenario or name.split("+")[0] == scenario)
    folders = [folder for name in chosen for folder in sorted((results / name).glob(_SEALED)) if folder.is_dir()]
    if scenario and not folders:
        names = sorted({name.split("+")[0] for name in scenarios})
        hint = suggest(scenario, names) or "`make scenario=…` makes results"
        raise Complaints.one("scenario", f"no sealed trials of {scenario[:40]!r}", ", ".join(names), hint)
    # Threads do: hashing a file lets the others run.
    pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))
    try:
        for checked in pool.map(check_folder, folders):
            interrupt.check()
            yield checked
    finally:
        pool.shutdown(cancel_futures=True)


def check_folder(folder: Path) -> Checked:
    """Compare each file of a run folder with its hash in the manifest."""
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if not path.is_dir()}
    size_bytes = sum(path.lstat().st_size for path in files.values())
    try:
        record = read_mapping(folder / MANIFEST)
        problems = list(_manifest_problems(record, folder))
        # Manifests that were sealed before they had these hashes lack them.
        hashes = {METRICS: None, **record["files"], **record.get("measured", {})}
    except FileNotFoundError:
        return Checked(folder, len(files), size_bytes, (f"{MANIFEST}: missing",))
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        return Checked(folder, len(files), size_bytes, (f"{MANIFEST}: can't be read: {error}",))
    problems += [f"{name}: {problem}" for name, digest in hashes.items() if (problem := _problem(files, name, digest))]
    problems += [f"{name}: extra" for name in files if name not in hashes and name != MANIFEST]
    return Checked(folder, len(files), size_bytes, tuple(problems))


def _manifest_problems(record: dict[str, Any], folder: Path) -> Iterator[str]:
    hashed = own_hash(record)
    if record.get("manifest_sha256", hashed) != hashed:
        yield f"{MANIFEST}: damaged"
    place = (record["variant"]["name"], record["traffic"]["name"], f"seed-{record['seed']:03d}")
    if place != folder.parts[-3:]:
        yield f"{MANIFEST}: is that of {'/'.join(place)}"


def _problem(files: dict[str, Path], name: str, digest: str | None) -> str:
    if name not in files:
        return "missing"
    try:
        found = hash_file(files[name])
        return "" if found == (digest or found) else "damaged"
    except OSError as error:
        return f"can't be read: {error.strerror}"


def require_undamaged(folder: Path, record: dict[str, Any], names: Collection[str] = ()) -> None:
    """Raise Complaints when a sealed folder's manifest `record`, or a file that is named, is not as it was sealed.

    Without names all files count. What an older manifest has no hash of is not looked at.
    """
    if not isinstance(record.get("files"), dict):
        raise Complaints.one(str(folder / MANIFEST), "is not that of a sealed trial", hint=_AGAIN, code=Exit.FAILED)
    known = {**_hashes(record, "files"), **_hashes(record, "measured")}
    hashes = {name: digest for name, digest in known.items() if not names or name in names}
    files = {name: folder / name for name in hashes if (folder / name).is_file()}
    problems = [(MANIFEST, "damaged")] if record.get("manifest_sha256", own_hash(record)) != own_hash(record) else []
    problems += [(name, problem) for name, digest in hashes.items() if (problem := _problem(files, name, digest))]
    if problems:
        complaints = (
            Complaint(str(folder / name), f"{what} since it was sealed", hint=_AGAIN) for name, what in problems
        )
        raise Complaints(complaints, Exit.FAILED)


def _hashes(record: dict[str, Any], key: str) -> dict[str, Any]:
    found = record.get(key)
    return found if isinstance(found, dict) else {}
