# SPDX-License-Identifier: Apache-2.0
"""Runs of the kernel's own tests, side by side."""

from collections.abc import Sequence
from pathlib import Path

from pathwarp.plan.selftest import Selftest
from pathwarp.run.kinds import SELFTESTS
from pathwarp.run.progress import Progress
from pathwarp.run.queue import jobs_to_do, make_jobs, run_jobs
from pathwarp.run.worker import Job, Outcome, seal


def run_selftests(root: Path, runs: Sequence[Selftest], jobs: int) -> int:
    """Run those that are not sealed yet, and seal what they leave, cases that fail and all; how many runs failed.

    A run fails when its guest doesn't get to its end. Complaints and KeyboardInterrupt as of `run_trials`.
    """
    work = make_jobs(root, runs, _finish, SELFTESTS)
    todo = jobs_to_do(work)
    with Progress(len(todo), len(work) - len(todo), _describe, "runs") as progress:
        return run_jobs(todo, jobs, progress.report)


def _finish(job: Job, folder: Path, started: float) -> None:
    seal(job, folder, started)


def _describe(outcome: Outcome) -> str:
    return "sealed by another run meanwhile" if outcome.found else f"done, {outcome.wall_s:.1f} s"
