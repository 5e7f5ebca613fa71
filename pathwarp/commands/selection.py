# SPDX-License-Identifier: Apache-2.0
"""What several commands do with their options: plan the trials asked for, read the sealed ones, print their table."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from pathwarp.base.complaints import Complaint, Complaints, Exit, gather
from pathwarp.commands.options import read_number, read_selection, shown
from pathwarp.model.backends.registry import BACKENDS, DEFAULT_BACKEND
from pathwarp.model.catalogue import Catalogue


def plan(
    catalogue: Catalogue,
    runs: str | None,
    seed: str | None,
    jobs: str | None,
    backend: str = DEFAULT_BACKEND,
    with_baseline: bool = False,
    **chosen: Any,
) -> tuple[list[Any], int, dict[str, Any]]:
    """The trials asked for, how many at a time, and the selection that they are from."""
    from pathwarp.plan.request import LARGEST_SEED, MOST_RUNS, Request, plan_trials

    complaints: list[Complaint] = []
    cpus = len(os.sched_getaffinity(0))
    selection = read_selection(complaints, **chosen)
    numbers = {
        "runs": read_number("runs", runs, MOST_RUNS, complaints),
        "seed": read_number("seed", seed, LARGEST_SEED, complaints),
    }
    workers = read_number("jobs", jobs, cpus, complaints) or cpus
    if backend in BACKENDS and BACKENDS[backend].alone and jobs and workers > 1:
        complaints.append(Complaint("jobs", BACKENDS[backend].why_alone, "1"))
    options: dict[str, Any] = {"backend": backend, "with_baseline": with_baseline, **selection}
    options |= {name: number for name, number in numbers.items() if number}
    trials = []
    with gather(complaints):
        trials = plan_trials(Request(catalogue.root, **options))
    if complaints:
        raise Complaints(complaints)
    return trials, workers, selection


def read_results(
    catalogue: Catalogue,
    selection: dict[str, Any],
    backend: str,
    complaints: list[Complaint],
    seeds: Sequence[int] | None = None,
) -> tuple[Any, Any, Path]:
    """The scenario; the sealed trials selected and, where they are sealed too, the baseline's; their folder.

    Metrics that are not those of the measuring code of now are made again, which is said on standard error. What is
    wrong with single folders goes to `complaints`; they are left out.
    """
    from pathwarp.model.command import make_command
    from pathwarp.model.kerneltree import kernel_name
    from pathwarp.model.load import load_experiment
    from pathwarp.model.overrides import label
    from pathwarp.model.points import points_of

    names = {name: selection[name] for name in ("scenario", "variants", "traffic", "overrides")}
    experiment = load_experiment(catalogue, **names)
    scenario, own = experiment.scenario, selection["overrides"]
    points = points_of(scenario.grid, selection["at"], own, many=True)
    variants = list(dict.fromkeys([scenario.baseline, *experiment.variants]))
    from pathwarp.measure.again import measured_results
    from pathwarp.results.reading import Wanted

    home = catalogue.root / "results"
    source = selection["source"]
    kernel = kernel_name(source)
    folders = {point: label(scenario.name, own, backend, point.label, kernel) for point in points}
    at = ",".join(f"{axis}={name}" for axis, name in selection["at"])
    traffics = list(experiment.workloads)
    results, lines = measured_results(
        home,
        [Wanted(folder, variants, traffics, seeds, point.values) for point, folder in folders.items()],
        complaints,
        make_command(scenario.name, experiment.variants, traffics, own, backend, at, source),
        len(os.sched_getaffinity(0)),
    )
    for line in lines:
        click.echo(f"pathwarp: {line}", err=True)
    if not results:
        raise Complaints(complaints, Exit.FAILED)
    if scenario.predict:
        from pathwarp.present.predictions import predict

        results = predict(results, experiment.variants)
    # The figures of a grid have a folder of their own, beside those of its points.
    together = label(scenario.name, own, backend, kernel=kernel)
    return scenario, results, home / (folders[points[0]] if len(points) == 1 else together)


def print_table(
    catalogue: Catalogue,
    selection: dict[str, Any],
    backend: str,
    metric: str | None = None,
    seeds: Sequence[int] | None = None,
) -> Exit:
    """Print the table of what is sealed; folders that cannot be used are named behind it and make it FAILED."""
    from pathwarp.present.flowtable import render_flows
    from pathwarp.present.headline import by_headline
    from pathwarp.present.table import render

    complaints: list[Complaint] = []
    scenario, results, folder = read_results(catalogue, selection, backend, complaints, seeds)
    tables = by_headline(results, (metric,) if metric else scenario.metrics).items()
    click.echo("\n".join(render(part, key, scenario.baseline, shown(folder)) for key, part in tables), nl=False)
    click.echo("".join(render_flows(results)), nl=False)
    return say_left_out(complaints)


def say_left_out(complaints: Sequence[Complaint]) -> Exit:
    """Name the folders that were left out, on standard error; the exit status that this comes to."""
    for complaint in dict.fromkeys(complaints):
        click.echo(str(complaint), err=True)
    return Exit.FAILED if complaints else Exit.DONE
