# SPDX-License-Identifier: Apache-2.0
"""Run sealed trials again and compare what comes out with what is sealed, byte by byte."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from pathwarp.base.complaints import Complaint, Complaints
from pathwarp.base.jsonfile import read_mapping
from pathwarp.compare.outdated import outdated_inputs
from pathwarp.plan.trial import Trial
from pathwarp.results import runfolder
from pathwarp.results.manifest import file_hashes, one_hash, own_hash
from pathwarp.run.progress import Progress
from pathwarp.run.queue import make_jobs, run_jobs
from pathwarp.run.worker import Job, Outcome


@dataclass(frozen=True)
class Verdict:
    """What a repeated trial came to: how many raw files, one SHA-256 over all of them, and what differs, in words."""

    files: int
    sha256: str
    differences: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.differences:
            return f"equal to the byte, {self.files} files, SHA-256 over all {self.sha256}"
        return "\n    ".join(("DIFFERENT", *self.differences))


def verify_trials(root: Path, trials: Sequence[Trial], jobs: int, times: int = 1) -> int:
    """Run the trials again so many times, compare each with its sealed files and say what came of it.

    Returns how many did not hold. What is sealed stays as it is. A trial whose inputs changed since it was sealed is
    not run; what changed is said. Raises Complaints when a trial is not sealed, or as `run_trials` does.
    """
    complaints = [complaint for trial in trials for complaint in _unsealed(root, trial)]
    if any(not trial.repeats for trial in trials):
        complaints.append(Complaint("time", "nothing repeats in real time", "virtual"))
    if complaints:
        raise Complaints(complaints)
    work = make_jobs(root, trials, compare)
    todo, different = [], []
    for job in work:
        if runfolder.sealed_id(job.final) == job.trial_id:
            todo += [job] * times
        else:
            click.echo(_changed(job))

    def describe(outcome: Outcome) -> str:
        if outcome.result.differences:
            different.append(outcome)
        return str(outcome.result)

    with Progress(len(todo), 0, describe) as progress:
        failed = run_jobs(todo, jobs, progress.report)
    held = len(todo) - failed - len(different)
    total = len(work) * times
    click.echo(f"{held} of {total} trial{'s' if total > 1 else ''} verified")
    return total - held


def compare(job: Job, folder: Path, started: float) -> Verdict:
    """Compare a finished trial's raw files with the sealed ones; where they differ, keep the new ones for `diff`."""
    now, there = file_hashes(folder), file_hashes(job.final)
    manifest = read_mapping(job.final / runfolder.MANIFEST)
    unequal = sorted(name for name in {*now, *there} if now.get(name) != there.get(name))
    if not unequal:
        return Verdict(len(now), one_hash(now))
    lines = [f"{len(unequal)} of {len({*now, *there})} files: {', '.join(unequal)}"]
    damaged = [name for name in unequal if there.get(name) != manifest["files"].get(name)]
    if damaged:
        lines.append(f"damaged since they were sealed, says the manifest: {', '.join(damaged)}")
    if now == manifest["files"]:
        lines.append("the repeated trial is what the manifest says; remove the damaged folder and run the trial")
        return Verdict(len(now), one_hash(now), tuple(lines))
    from pathwarp.compare.contents import first_difference

    first = first_difference(job.final, folder, [name for name in unequal if name not in damaged] or unequal)
    lines += first.lines(_flow_start_ns(folder))
    place = runfolder.keep_different(job.root / "results", folder, job.final)
    lines.append(f"to compare: make diff a={job.trial.folder} b={place.relative_to(job.root)}")
    return Verdict(len(now), one_hash(now), tuple(lines))


def _unsealed(root: Path, trial: Trial) -> list[Complaint]:
    folder = root / trial.folder
    found = runfolder.sealed_id(folder)
    if found is None:
        hint = f"run it first: {trial.command}"
        return [Complaint(str(trial.folder), "is not sealed, so there is nothing to compare with", hint=hint)]
    if not found or not _whole(folder):
        hint = "remove the folder and run the trial again"
        return [Complaint(str(trial.folder), f"its {runfolder.MANIFEST} is damaged", hint=hint)]
    return []


def _whole(folder: Path) -> bool:
    record = read_mapping(folder / runfolder.MANIFEST)
    return isinstance(record.get("files"), dict) and record.get("manifest_sha256", own_hash(record)) == own_hash(record)


def _changed(job: Job) -> str:
    manifest: dict[str, Any] = read_mapping(job.final / runfolder.MANIFEST)
    lines = outdated_inputs(job, manifest, job.final) or ["what makes up a trial's id"]
    head = f"{job.trial.title}: can't be verified, its inputs changed:"
    return "\n    ".join((head, *lines, "`make scenario=…` runs it with the inputs of now"))


def _flow_start_ns(folder: Path) -> int:
    return int(json.loads((folder / "logs" / "guest.json").read_text())["flow_start_ns"])
