# SPDX-License-Identifier: Apache-2.0
"""What is observed of a kernel: how often a test fails on it, or a metric of a scenario."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Protocol

from pathwarp.base.complaints import Complaint, Complaints, Exit
from pathwarp.measure.again import measured_results
from pathwarp.measure.cases import State, read_sealed
from pathwarp.model.backends.registry import DEFAULT_BACKEND
from pathwarp.model.catalogue import SELFTESTS
from pathwarp.model.kerneltree import KernelTree
from pathwarp.model.metrics import METRICS
from pathwarp.plan.selftest import Selftest
from pathwarp.plan.trial import Trial
from pathwarp.prepare.prepare import prepare_programs
from pathwarp.prepare.programs import Programs
from pathwarp.results.reading import Wanted
from pathwarp.run.queue import run_trials
from pathwarp.run.selftests import run_selftests


@dataclass(frozen=True)
class Observation:
    """A number, infinite where there is none, and what it says in words."""

    value: float
    words: str


class Judge(Protocol):
    """Looks at one kernel after the other; `kernels` is the backend of kernels/base.yaml that they are of."""

    kernels: str

    def begin(self, bad: KernelTree) -> None:
        """Get ready at the bad revision; Complaints when that can't be."""

    def observe(self, source: KernelTree) -> Observation:
        """Complaints when the kernel can't be built, or its guest doesn't get to its end."""


class Tests:
    """The share of seeds for which one of the kernel's own tests, or a case of it, fails.

    The test is that of the bad revision, whatever kernel it runs on. The `runs` differ in their seeds; what they say
    of test and sources is filled in.
    """

    kernels = SELFTESTS

    def __init__(self, root: Path, name: str, case: int | None, runs: Sequence[Selftest], jobs: int) -> None:
        self.root = root
        self.name = name
        self.case = case
        self.runs = list(runs)
        self.jobs = jobs

    def begin(self, bad: KernelTree) -> None:
        programs = Programs(self.root, bad)
        prepare_programs(programs)
        (test,) = programs.choose([self.name], "test")
        sha256 = programs.sha256()
        self.runs = [replace(run, program=test, programs=sha256, tests_of=bad) for run in self.runs]

    def observe(self, source: KernelTree) -> Observation:
        runs = [replace(run, source=source) for run in self.runs]
        if failed := run_selftests(self.root, runs, self.jobs):
            what = f"{failed} of {len(runs)} runs of {self.name} did not get to their end"
            raise Complaints.one("test", what, code=Exit.FAILED)
        sealed = [one for run in runs if (one := read_sealed(self.root, run))]
        cases = [[one.case(self.case)] if self.case else one.cases for one in sealed]
        failed = sum(any(case.state is State.FAILED for case in own) for own in cases)
        what = f"{self.name} case {self.case}" if self.case else self.name
        how = f"fails for {failed} of {len(sealed)} seeds" if len(sealed) > 1 else "fails" if failed else "passes"
        return Observation(failed / len(sealed), f"{what} {how}")


class Metrics:
    """The mean of a metric over trials that differ in their seeds; there is none when it is none for one of them."""

    kernels = DEFAULT_BACKEND

    def __init__(self, root: Path, metric: str, trials: Sequence[Trial], jobs: int) -> None:
        self.root = root
        self.metric = METRICS[metric]
        self.trials = trials
        self.jobs = jobs

    def begin(self, bad: KernelTree) -> None:
        """Nothing has to be got ready."""

    def observe(self, source: KernelTree) -> Observation:
        trials = [replace(trial, source=source) for trial in self.trials]
        first, seeds = trials[0], [trial.seed for trial in trials]
        if run_trials(self.root, trials, self.jobs):
            raise Complaints.one("scenario", f"{first.title} did not get to its end", code=Exit.FAILED)
        where = Wanted(first.folder.parts[1], [first.variant.name], [first.workload.name], seeds)
        complaints: list[Complaint] = []
        results, _ = measured_results(self.root / "results", [where], complaints, first.command, self.jobs)
        if complaints:
            raise Complaints(complaints, Exit.FAILED)
        values = [value for result in results for value in result.values(self.metric.key).values()]
        there = [value for value in values if value is not None]
        if not there or len(there) < len(values):
            return Observation(math.inf, f"{self.metric.words} none for {len(values) - len(there)} of {len(values)}")
        return Observation(
            fmean(there), f"{self.metric.words} {fmean(there):.{self.metric.decimals}f} {self.metric.unit}"
        )
