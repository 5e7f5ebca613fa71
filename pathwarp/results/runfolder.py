# SPDX-License-Identifier: Apache-2.0
"""Run folders: filled while in progress under a name that nothing reads, then sealed by a rename.

results/.in-progress/ID-PID/      a trial at work; the process that owns it holds a lock on the folder
results/.failed/SCENARIO/…        what the last failed attempt at a trial left, for finding out why
results/.replaced/SCENARIO/…      what was sealed before with other inputs
results/.differs/SCENARIO/…       what a verification got that is not what is sealed
results/SCENARIO/…/seed-NNN/      sealed
"""

import contextlib
import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pathwarp.base.atomic import write_json
from pathwarp.base.complaints import Complaints
from pathwarp.base.oserrors import advice
from pathwarp.results.sealed import MANIFEST, sealed_id

RAW_FOLDERS = ("captures", "logs")
_IN_PROGRESS = ".in-progress"
_FAILED = ".failed"
_REPLACED = ".replaced"
_DIFFERS = ".differs"
_ID_DIGITS = 12


def check_writable(results: Path, room_bytes: int) -> None:
    """Make sure that results can be written, before anything is started; Complaints when not."""
    try:
        (results / _IN_PROGRESS).mkdir(parents=True, exist_ok=True)
        # Another run may sweep it away, which is as good.
        with contextlib.suppress(FileNotFoundError):
            os.rmdir(tempfile.mkdtemp(prefix="probe-", dir=results / _IN_PROGRESS))
        require_room(results, room_bytes)
    except OSError as error:
        raise Complaints.one(str(results), f"can't be written: {error.strerror}", hint=advice(error)) from None


def require_room(results: Path, room_bytes: int) -> None:
    """Raise OSError (ENOSPC) when there is less room than that where the results are."""
    disk = os.statvfs(results)
    free_bytes = disk.f_bavail * disk.f_frsize
    if free_bytes < room_bytes or free_bytes == 0:
        what = f"the disk has {free_bytes / 1e6:.1f} MB left, {room_bytes / 1e6:g} MB are needed"
        raise OSError(errno.ENOSPC, what, str(results))


def sweep(results: Path) -> None:
    """Remove what killed runs left in progress: folders that nobody holds a lock on any more."""
    for folder in (results / _IN_PROGRESS).glob("*"):
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def in_progress(results: Path, trial_id: str) -> Iterator[Path]:
    """A new folder for one trial, with the raw files' folders in it; gone at the end unless it was sealed."""
    folder = results / _IN_PROGRESS / f"{trial_id[:_ID_DIGITS]}-{os.getpid()}"
    descriptor = _own_folder(folder)
    try:
        for name in RAW_FOLDERS:
            (folder / name).mkdir()
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def _own_folder(folder: Path) -> int:
    """Make a new folder and lock it; the descriptor that holds the lock.

    Another run may sweep the folder away before it is locked: then again. It can't for ever, it looks only once.
    """
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.stat(folder), os.fstat(descriptor)):
                    return descriptor
            os.close(descriptor)


def seal(
    results: Path, folder: Path, final: Path, manifest: Mapping[str, Any], replace_same: bool = False
) -> Path | None:
    """Write the manifest and rename a finished folder to its sealed name; returns where what was there is now, if any.

    A folder with another id is moved to `.replaced`. One with the same id, which somebody else sealed in the meantime,
    stays and this one goes, unless `replace_same` has it moved, too.
    """
    replaced = None
    write_json(folder / MANIFEST, manifest)
    final.parent.mkdir(parents=True, exist_ok=True)
    for _ in range(2):
        try:
            folder.rename(final)
            return replaced
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        if not replace_same and sealed_id(final) == manifest["trial_id"]:
            return None
        replaced = _replace(results, final)
    raise OSError(errno.EBUSY, "another run keeps sealing this trial with other inputs", str(final))


def _replace(results: Path, final: Path) -> Path:
    place = results / _REPLACED / final.relative_to(results)
    place = place.with_name(f"{place.name}-{(sealed_id(final) or 'unknown')[:_ID_DIGITS]}")
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        final.rename(place)
    return place


def keep_failed(results: Path, folder: Path, final: Path) -> Path:
    """Move a failed trial's files aside, where nothing takes them for a result; returns the place."""
    return _keep(results, _FAILED, folder, final)


def keep_different(results: Path, folder: Path, final: Path) -> Path:
    """Move the files of a trial that came out otherwise than it is sealed aside; returns the place."""
    return _keep(results, _DIFFERS, folder, final)


def _keep(results: Path, where: str, folder: Path, final: Path) -> Path:
    place = results / where / final.relative_to(results)
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    folder.rename(place)
    return place
