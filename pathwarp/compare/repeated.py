# SPDX-License-Identifier: Apache-2.0
"""A trial that was run again held against what is sealed of it, byte by byte."""

import json
from dataclasses import dataclass
from pathlib import Path

from pathwarp.results import runfolder
from pathwarp.results.manifest import file_hashes, one_hash
from pathwarp.results.sealed import MANIFEST, is_whole, read_manifest
from pathwarp.run.worker import Job, Sealed, seal_again


@dataclass(frozen=True)
class Verdict:
    """What a repeated trial came to: how many raw files, one SHA-256 over all of them, and what differs, in words."""

    files: int
    sha256: str
    differences: tuple[str, ...] = ()

    @property
    def held(self) -> bool:
        return not self.differences

    def __str__(self) -> str:
        if self.held:
            return f"equal to the byte, {self.files} files, SHA-256 over all {self.sha256}"
        return "\n    ".join(("DIFFERENT", *self.differences))


@dataclass(frozen=True)
class Mended:
    """A damaged folder that the repeated trial took the place of: what was damaged, and where the folder is now."""

    damaged: str
    place: Path

    held = True

    def __str__(self) -> str:
        lines = (f"sealed anew: damaged since it was sealed: {self.damaged}", f"the damaged one is in {self.place}")
        return "\n    ".join(lines)


def compare(job: Job, folder: Path, started: float) -> Verdict:
    """Compare a finished trial's raw files with the sealed ones; where they differ, keep the new ones for `diff`."""
    now, damaged = file_hashes(folder), _damaged(job.final)
    if damaged and now == read_manifest(job.final)["files"]:
        lines = [
            *_unequal(now, file_hashes(job.final)),
            f"damaged since they were sealed, says the manifest: {', '.join(damaged)}",
            "the repeated trial is what the manifest says; remove the damaged folder and run the trial",
        ]
        return Verdict(len(now), one_hash(now), tuple(lines))
    return _hold(job, folder, damaged)


def repeat(job: Job, folder: Path, started: float) -> Verdict | Mended | Sealed:
    """Compare a finished trial with the sealed one, and seal it in its place if that is damaged, or nothing repeats.

    Damaged is what the manifest says so of, when the new files are what it says, or the manifest itself.
    """
    if not job.trial.repeats:
        return seal_again(job, folder, started)
    if not is_whole(job.final):
        return _mended(job, MANIFEST, seal_again(job, folder, started))
    damaged = _damaged(job.final)
    if damaged and file_hashes(folder) == read_manifest(job.final)["files"]:
        return _mended(job, ", ".join(damaged), seal_again(job, folder, started))
    return _hold(job, folder, damaged)


def _hold(job: Job, folder: Path, damaged: list[str]) -> Verdict:
    now, there = file_hashes(folder), file_hashes(job.final)
    unequal = sorted(name for name in {*now, *there} if now.get(name) != there.get(name))
    if not unequal:
        return Verdict(len(now), one_hash(now))
    lines = _unequal(now, there)
    if damaged:
        lines.append(f"damaged since they were sealed, says the manifest: {', '.join(damaged)}")
    from pathwarp.compare.contents import first_difference

    first = first_difference(job.final, folder, [name for name in unequal if name not in damaged] or unequal)
    lines += first.lines(_flow_start_ns(folder))
    place = runfolder.keep_different(job.root / "results", folder, job.final)
    lines.append(f"to compare: make diff a={job.trial.folder} b={place.relative_to(job.root)}")
    return Verdict(len(now), one_hash(now), tuple(lines))


def _unequal(now: dict[str, str], there: dict[str, str]) -> list[str]:
    unequal = sorted(name for name in {*now, *there} if now.get(name) != there.get(name))
    return [f"{len(unequal)} of {len({*now, *there})} files: {', '.join(unequal)}"] if unequal else []


def _damaged(final: Path) -> list[str]:
    """The raw files of a sealed folder that are not what its manifest says."""
    there, said = file_hashes(final), read_manifest(final)["files"]
    return sorted(name for name in {*there, *said} if there.get(name) != said.get(name))


def _mended(job: Job, damaged: str, sealed: Sealed) -> Mended | Sealed:
    """What to say; nothing was replaced when somebody else had removed it meanwhile."""
    return Mended(damaged, sealed.replaced.relative_to(job.root)) if sealed.replaced else sealed


def _flow_start_ns(folder: Path) -> int:
    return int(json.loads((folder / "logs" / "guest.json").read_text())["flow_start_ns"])
