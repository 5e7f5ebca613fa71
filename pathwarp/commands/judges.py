# SPDX-License-Identifier: Apache-2.0
"""What `bisect` is to observe, from its options."""

import os
from typing import Any

from pathwarp.base.complaints import Complaint, Complaints, gather
from pathwarp.commands.options import read_names, read_number
from pathwarp.commands.selection import plan
from pathwarp.compare.bisect.judges import Metrics, Tests
from pathwarp.model.catalogue import Catalogue, suggest
from pathwarp.model.load import load_variants
from pathwarp.model.metrics import METRICS
from pathwarp.plan.request import LARGEST_SEED, MOST_RUNS
from pathwarp.plan.selftest import MOST_CASES, Noise, Program, Selftest
from pathwarp.plan.trial import Trial
from pathwarp.prepare.kernel import UNPATCHED


def of_test(
    catalogue: Catalogue,
    test: str,
    case: str | None,
    noise: str | None,
    variant: str | None,
    runs: str | None,
    seed: str | None,
    jobs: str | None,
) -> Tests:
    """A test of the kernel's own, in virtual time; Complaints for all that is wrong with its options."""
    complaints: list[Complaint] = []
    cpus = len(os.sched_getaffinity(0))
    often = read_number("runs", runs, MOST_RUNS, complaints) or 1
    first = read_number("seed", seed, LARGEST_SEED, complaints) or 1
    workers = read_number("jobs", jobs, cpus, complaints) or cpus
    number = read_number("case", case, MOST_CASES, complaints)
    delays, variants = None, []
    with gather(complaints):
        delays = Noise.of_option(noise)
    with gather(complaints):
        variants = load_variants(catalogue, read_names(variant) or (UNPATCHED,))
    if len(variants) > 1:
        complaints.append(Complaint("variant", "one kernel is bisected at a time", hint="name one"))
    if complaints:
        raise Complaints(complaints)
    # Which one it is, and of which sources, turns out at the bad revision.
    program = Program(test, "", "")
    given = [Selftest(program, variants[0], number, "", noise=delays) for number in range(first, first + often)]
    return Tests(catalogue.root, test, number, given, workers)


def of_scenario(
    catalogue: Catalogue,
    metric: str | None,
    runs: str | None,
    seed: str | None,
    jobs: str | None,
    chosen: dict[str, Any],
) -> Metrics:
    """A metric of a scenario's trials; Complaints for all that is wrong with the options."""
    complaints: list[Complaint] = []
    if metric and metric not in METRICS:
        what = f"unknown metric {metric[:40]!r}"
        complaints.append(Complaint("metric", what, ", ".join(METRICS), suggest(metric, tuple(METRICS))))
    trials: list[Trial] = []
    workers = 1
    with gather(complaints):
        trials, workers, _ = plan(catalogue, runs or "1", seed, jobs, **chosen)
    for name, found in (
        ("variant", {trial.variant.name for trial in trials}),
        ("traffic", {trial.workload.name for trial in trials}),
        ("at", {str(trial.point) for trial in trials}),
    ):
        if len(found) > 1:
            complaints.append(Complaint(name, "is to be one", ", ".join(sorted(found)), f"name one with {name}="))
    if complaints:
        raise Complaints(complaints)
    return Metrics(catalogue.root, metric or trials[0].scenario.metrics[0], trials, workers)
