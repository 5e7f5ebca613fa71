# SPDX-License-Identifier: Apache-2.0
"""Runs of the kernel's own tests, side by side."""

import re
from collections.abc import Sequence
from pathlib import Path

from pathwarp.base.complaints import Complaint, Complaints, Exit
from pathwarp.plan.selftest import Selftest
from pathwarp.run.kinds import SELFTESTS
from pathwarp.run.progress import Progress
from pathwarp.run.queue import jobs_to_do, make_jobs, run_jobs
from pathwarp.run.worker import Job, Outcome, seal

# What a kernel can be asked for, and the function of the patch that does it.
_DOES = {"noise": "noise_setup", "capture": "record_setup"}


def run_selftests(root: Path, runs: Sequence[Selftest], jobs: int) -> int:
    """Run those that are not sealed yet, and seal what they leave, cases that fail and all; how many runs failed.

    A run fails when its guest doesn't get to its end. Complaints and KeyboardInterrupt as of `run_trials`; Complaints
    (something failed), too, when kernels of a user's own source can't do what the runs ask them for.
    """
    work = make_jobs(root, runs, _finish, SELFTESTS)
    _check_kernels(work, runs[0])
    todo = jobs_to_do(work)
    with Progress(len(todo), len(work) - len(todo), _describe, "runs") as progress:
        return run_jobs(todo, jobs, progress.report)


def _check_kernels(work: Sequence[Job], run: Selftest) -> None:
    wanted = [name for name, asked in (("noise", run.noise), ("capture", run.capture)) if asked]
    complaints = [
        Complaint(name, "the kernel can't do it: its patch doesn't fit this source", hint="go without")
        for name in wanted
        if not all(re.search(rf"\b{_DOES[name]}$", maps, re.MULTILINE) for maps in _maps(work))
    ]
    if complaints:
        raise Complaints(complaints, Exit.FAILED)


def _maps(work: Sequence[Job]) -> list[str]:
    return [(folder / "System.map").read_text() for folder in {job.kernel: None for job in work}]


def _finish(job: Job, folder: Path, started: float) -> None:
    seal(job, folder, started)


def _describe(outcome: Outcome) -> str:
    return "sealed by another run meanwhile" if outcome.found else f"done, {outcome.wall_s:.1f} s"
