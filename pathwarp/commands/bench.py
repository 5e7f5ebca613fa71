# SPDX-License-Identifier: Apache-2.0
"""`pathwarp bench`: how fast trials are on this machine, and how much faster than at the wall clock's pace."""

import os
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import click

from pathwarp.base.complaints import Complaint, Complaints, Exit, gather
from pathwarp.commands.options import option, read_names, read_number
from pathwarp.model.catalogue import Catalogue
from pathwarp.model.overrides import Override
from pathwarp.plan.request import Request, plan_trials
from pathwarp.plan.trial import Trial
from pathwarp.run.progress import Progress
from pathwarp.run.queue import make_jobs, run_jobs
from pathwarp.run.worker import Job, Outcome

SCENARIO = "bench"
RUNS, MOST_RUNS = 3, 100
HEAD = ["traffic", "guests", "wall s", "of it analysis", "virtual s / wall s", "times real time", "peak MiB"]


@dataclass(frozen=True)
class Took:
    """What a trial cost: seconds of emulation and analysis, and the memory of its largest process, in MiB."""

    traffic: str
    emulation_s: float
    analysis_s: float
    peak_mib: float

    def __str__(self) -> str:
        return f"{self.emulation_s:.2f} s and {self.analysis_s:.2f} s of analysis"


@dataclass(frozen=True)
class Measured:
    """Guests side by side, each with the same trial: what all of them took, several times over."""

    traffic: str
    guests: int
    virtual_s: float
    wall_s: tuple[float, ...]
    took: tuple[Took, ...]

    def row(self, real_s: float) -> list[str]:
        """A line of the table; `real_s` is what the trial takes at the wall clock's pace."""
        wall_s = median(self.wall_s)
        return [
            self.traffic,
            str(self.guests),
            f"{wall_s:.2f}",
            f"{median(one.analysis_s for one in self.took):.2f}",
            _times(self.guests * self.virtual_s / wall_s),
            _times(self.guests * real_s / wall_s),
            f"{max(one.peak_mib for one in self.took):.0f}",
        ]


@click.command("bench")
@option("scenario", "The experiment; of several variants and points the first.", default=SCENARIO, show_default=True)
@option("traffic", "Workloads, comma-separated.  [default: the scenario's]")
@option("runs", f"Repetitions, of which the table has the median.  [default: {RUNS}]")
@click.pass_obj
def command(catalogue: Catalogue, scenario: str, traffic: str | None, runs: str | None) -> Exit:
    """Time trials of each kind of traffic, one guest alone and one on each CPU, and the same in real time."""
    from pathwarp.present.table import aligned

    complaints: list[Complaint] = []
    often = read_number("runs", runs, MOST_RUNS, complaints) or RUNS
    trials: list[Trial] = []
    with gather(complaints):
        trials = _plan(catalogue.root, scenario, traffic, "virtual")
    if complaints:
        raise Complaints(complaints)
    cpus = len(os.sched_getaffinity(0))
    measured = [_measure(catalogue.root, trial, guests, often) for trial in trials for guests in sorted({1, cpus})]
    real = _real_s(catalogue.root, _plan(catalogue.root, scenario, traffic, "real"))
    click.echo("\n".join(aligned([HEAD, *(one.row(real[one.traffic]) for one in measured)])))
    return Exit.DONE


def _times(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"


def finish(job: Job, folder: Path, started: float) -> Took:
    """Analyse a finished trial; nothing is kept."""
    from pathwarp.measure.metrics import measure

    emulated = time.monotonic()
    measure(folder)
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return Took(job.trial.workload.name, emulated - started, time.monotonic() - emulated, peak / 1024)


def _plan(root: Path, scenario: str, traffic: str | None, pace: str) -> list[Trial]:
    overrides = (Override("time", pace),)
    trials = plan_trials(Request(root, scenario, traffic=read_names(traffic), runs=1, overrides=overrides))
    return [t for t in trials if (t.variant.name, t.point) == (trials[0].variant.name, trials[0].point)]


def _measure(root: Path, trial: Trial, guests: int, often: int) -> Measured:
    wall_s, took = [], []
    for _ in range(often):
        seconds, each = _run(root, [trial] * guests, guests)
        wall_s.append(seconds)
        took += each
    return Measured(trial.workload.name, guests, trial.scenario.duration_ns / 1e9, tuple(wall_s), tuple(took))


def _real_s(root: Path, trials: Sequence[Trial]) -> dict[str, float]:
    """Traffic to the seconds that its trial takes in real time, all at once: such guests wait most of the time."""
    _, took = _run(root, trials, len(trials))
    return {one.traffic: one.emulation_s for one in took}


def _run(root: Path, trials: Sequence[Trial], guests: int) -> tuple[float, list[Took]]:
    """Run trials in new workers, as the memory of one that is done would count for the next."""
    jobs = make_jobs(root, trials, finish)
    took: list[Took] = []

    def describe(outcome: Outcome) -> str:
        took.append(outcome.result)
        return str(outcome.result)

    started = time.monotonic()
    with Progress(len(jobs), 0, describe) as progress:
        failed = run_jobs(jobs, guests, progress.report)
    seconds = time.monotonic() - started
    if failed:
        raise Complaints.one("bench", "a trial failed, so there is nothing to compare", code=Exit.FAILED)
    return seconds, took
