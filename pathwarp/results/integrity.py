# SPDX-License-Identifier: Apache-2.0
"""Hash sealed run folders again and hold them against their manifests, and their metrics against their records."""

import os
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pathwarp.base import interrupt
from pathwarp.base.complaints import Complaint, Complaints, Exit
from pathwarp.base.hashing import hash_file
from pathwarp.results.folders import find_folders
from pathwarp.results.metricsfile import METRICS, State, state
from pathwarp.results.sealed import MANIFEST, is_damaged, read_manifest

_AGAIN = "`make check-results` names all that is damaged; remove the folder and run the trial again"


@dataclass(frozen=True)
class Checked:
    """A sealed folder: how many files it has, of how many bytes, what is wrong with which of the sealed ones, and what
    its metrics are. `unusable` says what is wrong with metrics that are. Without a manifest to tell by they are None,
    and for the kernel's own tests, which have none.
    """

    folder: Path
    files: int
    size_bytes: int
    problems: tuple[str, ...]
    metrics: State | None = None
    unusable: tuple[str, ...] = field(default=())


def check_results(results: Path, code: str, scenario: str = "") -> Iterator[Checked]:
    """Check all sealed folders, or those of one scenario with whatever settings, in the order of their names.

    `code` is the hash of the measuring code of now. Raises Complaints for a scenario that has none.
    """
    folders = find_folders(results, scenario)
    # Threads do: hashing a file lets the others run.
    pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))
    try:
        for checked in pool.map(partial(check_folder, code=code), folders):
            interrupt.check()
            yield checked
    finally:
        pool.shutdown(cancel_futures=True)


def check_folder(folder: Path, code: str) -> Checked:
    """Compare each file of a run folder with its hash in the manifest, and its metrics with their record."""
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if not path.is_dir()}
    size_bytes = sum(path.lstat().st_size for path in files.values())
    try:
        manifest = read_manifest(folder)
        problems = list(_manifest_problems(manifest, folder))
        hashes: dict[str, str] = manifest["files"]
    except FileNotFoundError:
        return Checked(folder, len(files), size_bytes, (f"{MANIFEST}: missing",))
    except Complaints as complaints:
        return Checked(folder, len(files), size_bytes, tuple(_short(complaints)))
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        return Checked(folder, len(files), size_bytes, (f"{MANIFEST}: can't be read: {error}",))
    problems += [f"{name}: {problem}" for name, digest in hashes.items() if (problem := _problem(files, name, digest))]
    problems += [f"{name}: extra" for name in files if name not in hashes and not _beside(name)]
    if "selftest" in manifest:
        return Checked(folder, len(files), size_bytes, tuple(problems))
    found, complaints_of_metrics = state(folder, manifest, code)
    unusable = tuple(_short(complaints_of_metrics)) if complaints_of_metrics else ()
    return Checked(folder, len(files), size_bytes, tuple(problems), found, unusable)


def _short(complaints: Complaints) -> Iterator[str]:
    """What is wrong, with the file's name alone: whoever prints it says the folder."""
    for complaint in complaints.complaints:
        valid = f" (valid: {complaint.valid})" if complaint.valid else ""
        yield f"{complaint.where.rpartition('/')[2]}: {complaint.what}{valid}"


def _beside(name: str) -> bool:
    """Whether a file belongs to a run folder, but not to what is sealed: a killed process may leave a draft of it."""
    return name in (MANIFEST, METRICS) or name.startswith(f".{METRICS}.")


def _manifest_problems(manifest: Mapping[str, Any], folder: Path) -> Iterator[str]:
    if is_damaged(manifest):
        yield f"{MANIFEST}: damaged"
    what = manifest.get("selftest") or manifest["traffic"]
    place = (manifest["variant"]["name"], what["name"], f"seed-{manifest['seed']:03d}")
    if place != folder.parts[-3:]:
        yield f"{MANIFEST}: is that of {'/'.join(place)}"


def _problem(files: Mapping[str, Path], name: str, digest: object) -> str:
    if name not in files:
        return "missing"
    try:
        return "" if hash_file(files[name]) == digest else "damaged"
    except OSError as error:
        return f"can't be read: {error.strerror}"


def require_undamaged(folder: Path, manifest: Mapping[str, Any], names: Collection[str] | None = None) -> None:
    """Raise Complaints when a sealed folder's manifest, or a raw file that is named, is not as it was sealed.

    Without names all raw files count.
    """
    hashes = {name: digest for name, digest in manifest["files"].items() if names is None or name in names}
    files = {name: folder / name for name in hashes if (folder / name).is_file()}
    problems = [(MANIFEST, "damaged")] if is_damaged(manifest) else []
    problems += [(name, problem) for name, digest in hashes.items() if (problem := _problem(files, name, digest))]
    if problems:
        complaints = (
            Complaint(str(folder / name), f"{what} since it was sealed", hint=_AGAIN) for name, what in problems
        )
        raise Complaints(complaints, Exit.FAILED)
