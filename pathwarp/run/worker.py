# SPDX-License-Identifier: Apache-2.0
"""One trial from an empty folder to its raw files and what becomes of them, in a process bound to a CPU of its own."""

import os
import signal
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from pathwarp.base import interrupt
from pathwarp.base.complaints import Complaints
from pathwarp.base.jsonfile import read_mapping
from pathwarp.base.lifetime import die_with
from pathwarp.base.oserrors import describe
from pathwarp.plan.identity import Inputs
from pathwarp.results import runfolder
from pathwarp.results.manifest import manifest
from pathwarp.results.sealed import read_manifest, sealed_id
from pathwarp.run.guests.choice import Guests, guests_of
from pathwarp.run.guests.guest import GuestFailed, last_lines
from pathwarp.run.kinds import TRIALS, Kind


@dataclass(frozen=True)
class Job:
    """A trial, or other `Work` of a `kind`, with all that it takes to run it: its id, what that is made of, the
    kernel's folder, the build records.

    `finish` gets the job, the folder with the raw files and when the work on it began (monotonic s): it seals them, or
    compares them with sealed ones. What it returns is the outcome's result. `recognise`: what another run sealed
    meanwhile is not run again. `attempt` counts from 1; after a failure there are up to `retries` more.
    """

    trial: Any
    trial_id: str
    inputs: Inputs
    kernel: Path
    kernel_record: dict
    lab_record: dict
    root: Path
    finish: Callable[["Job", Path, float], Any]
    kind: Kind = TRIALS
    recognise: bool = False
    retries: int = 0
    attempt: int = 1

    @property
    def final(self) -> Path:
        return self.root / self.trial.folder


class Unmeasured(Exception):
    """The trial is sealed, but its metrics could not be made, for the reason given."""


@dataclass(frozen=True)
class Sealed:
    """A trial that was sealed and measured; `replaced` is where the result is that was sealed there before, if any."""

    metrics: Mapping[str, Any]
    replaced: Path | None = None


@dataclass(frozen=True)
class Outcome:
    """How a trial went: what its job's `finish` returned, or why it failed. `found`: another run had sealed it.

    `sealed`: it failed behind its sealing.
    """

    job: Job
    wall_s: float
    result: Any = None
    reason: str = ""
    found: bool = False
    sealed: bool = False

    @property
    def again(self) -> bool:
        """Whether the trial failed and is tried again."""
        return bool(self.reason) and not self.sealed and self.job.attempt <= self.job.retries


def serve(cpu: int | None, jobs: Connection, engine: int) -> None:
    """Perform jobs until there are no more, bound to one CPU, if any; the main function of a worker process.

    Its life is tied to the engine's, which alone hears Ctrl-C, and its guests' lives to its own. A request to end makes
    it clear away what it is at; `engine` is the process that asks. It calls this with such requests held.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    interrupt.begin([signal.SIGTERM])
    die_with(engine)
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})
    guests = None
    try:
        while interrupt.wait([jobs]) and (job := jobs.recv()) is not None:
            guests = guests or guests_of(job.root, job.trial.backend)
            jobs.send(perform(job, guests))
    except (KeyboardInterrupt, EOFError, BrokenPipeError):
        # Asked to end, or there is nobody left to work for.
        pass
    finally:
        if guests:
            guests.close()


def perform(job: Job, guests: Guests) -> Outcome:
    """Run one trial and finish it as its job says."""
    started = time.monotonic()
    results = job.root / "results"
    try:
        if job.recognise and sealed_id(job.final) == job.trial_id:
            return Outcome(job, 0.0, found=True)
        with runfolder.in_progress(results, job.trial_id) as folder:
            try:
                emulate(job, folder, guests)
                interrupt.check()
                result = job.finish(job, folder, started)
                return Outcome(job, time.monotonic() - started, result)
            except Unmeasured as error:
                advice = "its raw files are sealed: `make measure` tries again, force=1 runs the trial again"
                reason = f"it can't be measured: {error}\n    {advice}"
                return Outcome(job, time.monotonic() - started, reason=reason, sealed=True)
            except Exception as error:  # noqa: BLE001, whatever it is, this trial fails by it and the others go on
                reason = f"{_reason(error, folder)}\n    {_keep(job, folder)}"
    except Complaints as complaints:
        reason = str(complaints)
    except OSError as error:
        reason = describe(error)
    return Outcome(job, time.monotonic() - started, reason=reason)


def _reason(error: Exception, folder: Path) -> str:
    match error:
        case GuestFailed() | Complaints():
            return str(error)
        case OSError():
            return describe(error)
    (folder / "error.txt").write_text("".join(traceback.format_exception(error)))
    return f"{type(error).__name__}: {error}\n    this is an error of the program: please report it, with error.txt"


def _keep(job: Job, folder: Path) -> str:
    """Move a failed trial's files aside, where there is room for them; where they are now."""
    results = job.root / "results"
    try:
        runfolder.require_room(results, 0)
        place = runfolder.keep_failed(results, folder, job.final)
    except OSError as error:
        return f"its files are not kept: {describe(error)}"
    return f"see {place.relative_to(job.root)}"


def emulate(job: Job, folder: Path, guests: Guests) -> None:
    """Fill a run folder with a trial's raw files; GuestFailed when the guest doesn't say that it did all of it.

    Raises OSError when there is no room for them: a program in the guest that can't write may not say so.
    """
    runfolder.require_room(folder, guests.settings.room_bytes)
    for name, content in job.kind.orders(job.trial, job.kernel_record["release"]).items():
        (folder / name).write_bytes(content)
    guests.run(job.kernel, folder, job.trial)
    runfolder.require_room(folder, guests.settings.room_bytes)
    try:
        guest = read_mapping(folder / "logs" / "guest.json")
    except ValueError as error:
        raise GuestFailed(f"what the guest reports {error}{last_lines(folder)}") from None
    if guest.get("status") != "done":
        console = "" if guest.get("status") == "void" else last_lines(folder)
        raise GuestFailed(f"{guest.get('reason', 'the guest gives no reason')}{console}")
    job.kind.complete(job.root, folder)


def seal_and_measure(job: Job, folder: Path, started: float) -> Sealed:
    """Seal a trial's raw files, then make its metrics. A folder with the same id that somebody else sealed stays."""
    return _seal_and_measure(job, folder, started, replace_same=False)


def seal_again(job: Job, folder: Path, started: float) -> Sealed:
    """Seal a trial's raw files in place of what is sealed, which moves to `.replaced`, then make its metrics."""
    return _seal_and_measure(job, folder, started, replace_same=True)


def seal(job: Job, folder: Path, started: float, replace_same: bool = False) -> Path | None:
    """Seal the raw files; where what was sealed there is now, if anything was. With the same id it stays and this goes,
    unless `replace_same`.
    """
    wall_s = time.monotonic() - started
    record = manifest(
        job.trial, job.trial_id, job.inputs, job.kernel_record, job.lab_record, folder, wall_s, job.attempt
    )
    return runfolder.seal(job.root / "results", folder, job.final, record, replace_same)


def _seal_and_measure(job: Job, folder: Path, started: float, replace_same: bool) -> Sealed:
    replaced = seal(job, folder, started, replace_same)
    from pathwarp.measure.again import measure_sealed
    from pathwarp.measure.code import measuring_code

    try:
        return Sealed(measure_sealed(job.final, read_manifest(job.final), measuring_code()), replaced)
    except Complaints as complaints:
        raise Unmeasured(str(complaints)) from None
    except OSError as error:
        raise Unmeasured(describe(error)) from None
    except Exception as error:
        # An error of the measuring code: the trial stays, whatever is wrong with that.
        raise Unmeasured("".join(traceback.format_exception(error)).strip()) from error
