# SPDX-License-Identifier: Apache-2.0
"""The ways to run a trial, and running the same trials in each of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pathwarp.base.complaints import Complaint, Complaints, gather
from pathwarp.measure.again import measured_results
from pathwarp.model.backends.registry import BACKENDS, DEFAULT_BACKEND
from pathwarp.model.overrides import Override
from pathwarp.plan.request import Request, plan_trials
from pathwarp.plan.trial import Trial
from pathwarp.results.reading import TrialResult, Wanted
from pathwarp.run.queue import run_trials


@dataclass(frozen=True)
class Way:
    """`time` is the scenario's key of that name; `alone`: a trial gets the machine for itself."""

    name: str
    backend: str
    time: str
    alone: bool


def _ways() -> Iterator[Way]:
    """Every pace of every backend, the default one's first; the one that the others are compared with is the first."""
    for backend in sorted(BACKENDS.values(), key=lambda backend: backend.name != DEFAULT_BACKEND):
        # The time that comes first, where a backend makes no difference between two.
        times = {pace: time for time, pace in reversed(list(backend.paces.items()))}
        for time, pace in backend.paces.items():
            if times[pace] == time:
                yield Way(pace.title, backend.name, time, pace.alone)


WAYS = tuple(_ways())


def plan(request: Request) -> dict[str, list[Trial]]:
    """The trials of each way, in the same order; Complaints for all that is wrong with the input."""
    complaints: list[Complaint] = []
    if any(override.path == "time" for override in request.overrides):
        complaints.append(Complaint("time", "is what this compares", hint="leave it out"))
    planned = {}
    with gather(complaints):
        for way in WAYS:
            # A virtual machine's time is real whatever the scenario says; the default has no place in a folder's name.
            own = () if way.time == "virtual" else (Override("time", way.time),)
            overrides = tuple(sorted((*request.overrides, *own)))
            planned[way.name] = plan_trials(replace(request, backend=way.backend, overrides=overrides))
    if not complaints and not planned[WAYS[0].name][0].repeats:
        complaints.append(
            Complaint("time", "the scenario is in real time already", hint="take `time: real` out of its file")
        )
    if complaints:
        raise Complaints(complaints)
    return planned


def results(
    root: Path, trials: Sequence[Trial], jobs: int, complaints: list[Complaint]
) -> tuple[list[TrialResult], list[str]]:
    """The sealed results of one way's trials, and lines on what was measured again, as of `measured_results`."""
    variants = list(dict.fromkeys(trial.variant.name for trial in trials))
    traffics = list(dict.fromkeys(trial.workload.name for trial in trials))
    seeds = sorted({trial.seed for trial in trials})
    name = trials[0].folder.parts[1]
    wanted = Wanted(name, variants, traffics, seeds)
    return measured_results(root / "results", [wanted], complaints, trials[0].command, jobs)


def run(planned: dict[str, list[Trial]], request: Request, jobs: int) -> int:
    """Run the trials of each way that are not sealed yet; how many failed. Raises as `run_trials` does."""
    return sum(run_trials(request.root, planned[way.name], 1 if way.alone else jobs) for way in WAYS)
