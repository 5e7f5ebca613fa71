# SPDX-License-Identifier: Apache-2.0
"""Run sealed trials again and compare what comes out with what is sealed, byte by byte."""

from collections.abc import Sequence
from pathlib import Path

import click

from pathwarp.base.complaints import Complaint, Complaints, gather
from pathwarp.compare.outdated import outdated_inputs
from pathwarp.compare.repeated import compare
from pathwarp.plan.trial import Trial
from pathwarp.results.sealed import MANIFEST, is_whole, read_manifest, sealed_id
from pathwarp.run.progress import Progress
from pathwarp.run.queue import make_jobs, run_jobs
from pathwarp.run.worker import Job, Outcome


def verify_trials(root: Path, trials: Sequence[Trial], jobs: int, times: int = 1) -> int:
    """Run the trials again so many times, compare each with its sealed files and say what came of it.

    Returns how many did not hold. What is sealed stays as it is. A trial whose inputs changed since it was sealed is
    not run; what changed is said. Raises Complaints when a trial is not sealed, or as `run_trials` does.
    """
    complaints: list[Complaint] = []
    for trial in trials:
        with gather(complaints):
            complaints += _unsealed(root, trial)
    if any(not trial.repeats for trial in trials):
        complaints.append(Complaint("time", "nothing repeats in real time", "virtual"))
    if complaints:
        raise Complaints(complaints)
    work = make_jobs(root, trials, compare)
    todo, different = [], []
    for job in work:
        if sealed_id(job.final) == job.trial_id:
            todo += [job] * times
        else:
            click.echo(_changed(job))

    def describe(outcome: Outcome) -> str:
        if not outcome.result.held:
            different.append(outcome)
        return str(outcome.result)

    with Progress(len(todo), 0, describe) as progress:
        failed = run_jobs(todo, jobs, progress.report)
    held = len(todo) - failed - len(different)
    total = len(work) * times
    click.echo(f"{held} of {total} trial{'s' if total > 1 else ''} verified")
    return total - held


def _unsealed(root: Path, trial: Trial) -> list[Complaint]:
    folder = root / trial.folder
    found = sealed_id(folder)
    if found is None:
        hint = f"run it first: {trial.command}"
        return [Complaint(str(trial.folder), "is not sealed, so there is nothing to compare with", hint=hint)]
    if not found or not is_whole(folder):
        hint = "remove the folder and run the trial again"
        return [Complaint(str(trial.folder), f"its {MANIFEST} is damaged", hint=hint)]
    return []


def _changed(job: Job) -> str:
    manifest = read_manifest(job.final)
    lines = outdated_inputs(job, manifest, job.final) or ["what makes up a trial's id"]
    head = f"{job.trial.title}: can't be verified, its inputs changed:"
    return "\n    ".join((head, *lines, "`make scenario=…` runs it with the inputs of now"))
