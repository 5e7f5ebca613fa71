# SPDX-License-Identifier: Apache-2.0
"""Trials side by side, each in a worker that is bound to a CPU of its own."""

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from pathwarp.base import interrupt
from pathwarp.base.complaints import Complaint, Complaints, Exit, gather
from pathwarp.model.backends.registry import BACKENDS
from pathwarp.plan.identity import GUEST, Inputs, guest_files, hash_files, hash_orders, trial_id
from pathwarp.plan.kit import Work
from pathwarp.plan.trial import Trial
from pathwarp.prepare import kernel, lab
from pathwarp.results import runfolder
from pathwarp.results.sealed import sealed_id
from pathwarp.run import cpus
from pathwarp.run.guests.choice import guests_of
from pathwarp.run.guests.guest import describe_status
from pathwarp.run.kinds import TRIALS, Kind
from pathwarp.run.progress import Progress
from pathwarp.run.worker import Job, Outcome, Sealed, seal_and_measure, serve


class Repeated(Protocol):
    """What came of running a sealed trial again, in words; `held`: nothing is wrong with it."""

    @property
    def held(self) -> bool: ...


# Gets what a job's `finish` gets.
Again = Callable[[Job, Path, float], Repeated | Sealed]

# How long a worker may take to clear away a guest and its files.
_PATIENCE_S = 20


def run_trials(root: Path, trials: Sequence[Trial], jobs: int, retries: int = 0, again: Again | None = None) -> int:
    """Prepare what the trials need and run those that are not sealed yet; how many failed.

    One that fails is run up to `retries` more times. Those that are sealed are run, too, when there is something to do
    `again` with what comes out; one of which that does not hold counts as failed. Raises Complaints when results can't
    be written, a build fails, or something is sealed that can't be read; KeyboardInterrupt once all guests are gone.
    """
    work = make_jobs(root, trials, seal_and_measure)
    todo = jobs_to_do(work, retries, again)
    unheld: list[Outcome] = []

    def describe(outcome: Outcome) -> str:
        if outcome.found or isinstance(outcome.result, Sealed):
            return headline(outcome)
        if not outcome.result.held:
            unheld.append(outcome)
        return str(outcome.result)

    with Progress(len(todo), len(work) - len(todo), describe) as progress:
        return run_jobs(todo, jobs, progress.report) + len(unheld)


def jobs_to_do(work: Sequence[Job], retries: int = 0, again: Again | None = None) -> list[Job]:
    """Those of the jobs that are not sealed yet, and those that are, when there is something to do `again`.

    Complaints for what is sealed and can't be read.
    """
    todo: list[Job] = []
    complaints: list[Complaint] = []
    for job in work:
        with gather(complaints):
            if sealed_id(job.final) != job.trial_id:
                todo.append(replace(job, recognise=True, retries=retries))
            elif again:
                todo.append(replace(job, finish=again, retries=retries))
    if complaints:
        raise Complaints(complaints)
    return todo


def make_jobs(
    root: Path, trials: Sequence[Work], finish: Callable[[Job, Path, float], Any], kind: Kind = TRIALS
) -> list[Job]:
    """Prepare what the trials, or works of another kind, need and return the jobs of running and finishing them.

    Complaints as of `run_trials`.
    """
    results = root / "results"
    backend = trials[0].backend
    guests = guests_of(root, backend)
    runfolder.check_writable(results, guests.settings.room_bytes)
    runfolder.sweep(results)
    variants = {trial.variant.name: trial.variant for trial in trials}
    source = trials[0].source
    kind.ensure(root, list(variants.values()), backend, source)
    complaints: list[Complaint] = []
    kernels: dict[str, kernel.Kernel] = {}
    for wanted, group in kernel.group_by_kernel(root, variants.values(), kind.kernels or backend, source):
        kernels |= {variant.name: wanted for variant in group}
        with gather(complaints):
            wanted.check_binary()
    if complaints:
        raise Complaints(complaints, Exit.FAILED)
    shared = {
        "boot_files": hash_files(root, BACKENDS[backend].boot_files),
        "guest": hash_files(root, (GUEST / name for name in guest_files(root))),
        "ground": guests.ground(root),
    }
    return [
        _job(root, trial, kernels[trial.variant.name], guests.boot(trial), shared, finish, kind) for trial in trials
    ]


def headline(outcome: Outcome) -> str:
    """What a sealed trial says of its scenario's first metric."""
    if outcome.found:
        return "sealed by another run meanwhile"
    metric = outcome.job.trial.scenario.metrics[0]
    value = outcome.result.metrics[metric]
    replaced = f"; what was sealed before is in {_below(outcome.result.replaced)}" if outcome.result.replaced else ""
    tried = f", attempt {outcome.job.attempt}" if outcome.job.attempt > 1 else ""
    return f"{metric} {'none' if value is None else f'{value:.3f}'}, {outcome.wall_s:.1f} s{tried}{replaced}"


def _below(place: Path) -> Path:
    """A place in the results as it is from the project's folder."""
    return Path(*place.parts[place.parts.index("results") :])


def _job(
    root: Path,
    trial: Work,
    wanted: kernel.Kernel,
    boot: Sequence[str],
    shared: Mapping[str, Any],
    finish: Callable[[Job, Path, float], Any],
    kind: Kind,
) -> Job:
    interrupt.check()
    kernel_record, lab_record = wanted.record, lab.read_lab(root, trial.kit.lab)
    inputs: Inputs = {
        "orders": hash_orders(kind.orders(trial, kernel_record["release"])),
        "boot": boot,
        "boot_files": shared["boot_files"],
        "guest": shared["guest"],
        "ground": shared["ground"],
        "kernel": kernel_record["binary_sha256"],
        "lab": {"packages": lab_record["packages_sha256"], "recipe": lab_record["inputs"]},
    }
    return Job(trial, trial_id(inputs), inputs, wanted.folder, kernel_record, lab_record, root, finish, kind)


class _Worker:
    """A worker process, on a CPU of its own if any, and the job that it has."""

    def __init__(self, cpu: int | None) -> None:
        context = multiprocessing.get_context("fork")
        self.cpu = cpu
        self.job: Job | None = None
        self.connection, far_end = context.Pipe()
        self.process = context.Process(target=serve, args=(cpu, far_end, os.getpid()), daemon=True)
        # Who asks for an end meanwhile asks the engine: the worker lets signals in when it is ready for them.
        with far_end, interrupt.held():
            self.process.start()

    def give(self, job: Job) -> None:
        self.job = job
        # A worker that was killed doesn't take it; `outcome` says so.
        with suppress(OSError):
            self.connection.send(job)

    def outcome(self) -> Outcome:
        """Wait for the end of the job; a worker that was killed failed it."""
        job, self.job = self.job, None
        assert job, "only a busy worker has an outcome"
        try:
            outcome: Outcome = self.connection.recv()
        except (EOFError, OSError):
            self.process.join()
            return Outcome(job, 0.0, reason=f"its worker process {describe_status(self.process.exitcode or 0)}")
        return outcome

    def end(self) -> None:
        """Have it clear away what it is at, and wait until it and its guest are gone."""
        self.process.terminate()
        self.process.join(_PATIENCE_S)
        self.process.kill()
        self.process.join()
        self.connection.close()


def run_jobs(jobs: Sequence[Job], number: int, report: Callable[[Outcome], None]) -> int:
    """Do the jobs, `number` at a time, and report each attempt as it ends; how many jobs failed.

    More than there are CPUs share them. Jobs of a backend whose guests want to be alone are done one by one, those of
    a variant together.

    Raises KeyboardInterrupt once all guests are gone.
    """
    if not jobs:
        return 0
    failed = 0
    queue = deque(jobs)
    workers: list[_Worker] = []
    chosen: Sequence[int | None] = [None]
    claims: list[cpus.Cpu] = []
    if BACKENDS[jobs[0].trial.backend].alone:
        variants = list(dict.fromkeys(job.trial.variant.name for job in jobs))
        queue = deque(sorted(jobs, key=lambda job: variants.index(job.trial.variant.name)))
    else:
        chosen, claims = cpus.choose(min(number, len(jobs)))
    try:
        for cpu in chosen:
            interrupt.check()
            workers.append(_Worker(cpu))
            workers[-1].give(queue.popleft())
        while busy := {worker.connection: worker for worker in workers if worker.job}:
            for connection in interrupt.wait(busy):
                worker = busy[connection]
                outcome = worker.outcome()
                if outcome.again:
                    queue.appendleft(replace(outcome.job, attempt=outcome.job.attempt + 1))
                failed += bool(outcome.reason) and not outcome.again
                report(outcome)
                if queue:
                    if not worker.process.is_alive():
                        workers.remove(worker)
                        worker = _Worker(worker.cpu)
                        workers.append(worker)
                    worker.give(queue.popleft())
        return failed
    finally:
        for worker in workers:
            worker.end()
        for claim in claims:
            claim.release()
        runfolder.sweep(jobs[0].root / "results")
