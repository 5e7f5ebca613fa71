# SPDX-License-Identifier: Apache-2.0
"""One trial from an empty folder to its raw files and what becomes of them, in a process bound to a CPU of its own."""

import errno
import json
import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from pathwarp import runfolder
from pathwarp.backend.uml import GuestFailed, Uml, die_with_parent, last_lines
from pathwarp.faults import Faults
from pathwarp.manifest import manifest
from pathwarp.trial import Trial


@dataclass(frozen=True)
class Job:
    """A trial with all that it takes to run it: its id, the input hashes, the kernel's folder, the build records.

    `finish` gets the job, the folder with the raw files and when the work on it began (monotonic s): it seals them, or
    compares them with sealed ones. What it returns is the outcome's result.
    """

    trial: Trial
    trial_id: str
    hashes: Mapping[str, str]
    kernel: Path
    kernel_record: dict
    lab_record: dict
    root: Path
    finish: Callable[["Job", Path, float], Any]

    @property
    def final(self) -> Path:
        return self.root / self.trial.folder


@dataclass(frozen=True)
class Outcome:
    """How a trial went: what its job's `finish` returned, or why it failed."""

    job: Job
    wall_s: float
    result: Any = None
    reason: str = ""


def serve(cpu: int, jobs: Connection) -> None:
    """Perform jobs until there are no more, bound to one CPU; the main function of a worker process.

    Its life is tied to the engine's, which alone hears Ctrl-C, and its guests' lives to its own.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    die_with_parent()
    os.sched_setaffinity(0, {cpu})
    while (job := jobs.recv()) is not None:
        jobs.send(perform(job))


def perform(job: Job) -> Outcome:
    """Run one trial and finish it as its job says."""
    started = time.monotonic()
    results = job.root / "results"
    try:
        with runfolder.in_progress(results, job.trial_id) as folder:
            try:
                emulate(job, folder)
                result = job.finish(job, folder, started)
                return Outcome(job, time.monotonic() - started, result)
            except GuestFailed as failure:
                place = runfolder.keep_failed(results, folder, job.final)
                reason = f"{failure}\n    see {place.relative_to(job.root)}"
            except Faults as faults:
                place = runfolder.keep_failed(results, folder, job.final)
                reason = f"the raw files can't be measured: {faults}\n    see {place.relative_to(job.root)}"
    except OSError as error:
        hint = "; free some space" if error.errno == errno.ENOSPC else ""
        reason = f"{error.filename or 'the run folder'}: {error.strerror}{hint}"
    return Outcome(job, time.monotonic() - started, reason=reason)


def emulate(job: Job, folder: Path) -> None:
    """Fill a run folder with a trial's raw files; GuestFailed when the guest doesn't say that it did all of it."""
    trial = job.trial
    _write_orders(job, folder / "logs")
    Uml(job.root).run(job.kernel, folder, trial.seed, trial.scenario.duration_ns / 1e9, trial.time_mode)
    guest = json.loads((folder / "logs" / "guest.json").read_text())
    if guest["status"] != "done":
        console = "" if guest["status"] == "void" else last_lines(folder)
        raise GuestFailed(f"{guest.get('reason', 'the guest gives no reason')}{console}")


def measure_and_seal(job: Job, folder: Path, started: float) -> dict:
    """Seal a trial's raw files with what was measured from them; returns the metrics."""
    from pathwarp.measure.metrics import write_metrics

    metrics = write_metrics(folder)
    record = manifest(
        job.trial, job.trial_id, job.hashes, job.kernel_record, job.lab_record, folder, time.monotonic() - started
    )
    runfolder.seal(job.root / "results", folder, job.final, record)
    return metrics


def _write_orders(job: Job, logs: Path) -> None:
    """The guest's plan and the departures that ITGSend replays; a constant rate is all in the plan."""
    from pathwarp.traffic.trace import Trace, departures

    trial = job.trial
    plan = {**trial.guest_plan(), "release": job.kernel_record["release"]}
    (logs / "plan.json").write_text(json.dumps(plan, sort_keys=True))
    if not trial.replay.bursts:
        return
    waits_ms, sizes = departures(Trace(trial.replay.bursts), trial.workload.packet_bytes)
    (logs / "waits.txt").write_text("".join(f"{wait:.4f}\n" for wait in waits_ms))
    (logs / "sizes.txt").write_text("".join(f"{size}\n" for size in sizes))
