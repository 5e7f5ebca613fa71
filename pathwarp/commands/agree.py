# SPDX-License-Identifier: Apache-2.0
"""`pathwarp agree`."""

import os
from typing import Any

import click

from pathwarp.base.complaints import Complaint, Complaints, Exit, gather
from pathwarp.commands.options import SELECTION, option, read_number, read_selection
from pathwarp.model.catalogue import Catalogue


@click.command("agree")
@SELECTION
@option("runs", "How many seeds.  [default: 1]")
@option("seed", "The first seed.  [default: 1]")
@click.pass_obj
def command(catalogue: Catalogue, runs: str | None, seed: str | None, **chosen: Any) -> Exit:
    """Run the same trials in virtual time, in real time and in virtual machines, and say how far they differ.

    Real time takes as long as it says: twice the trials' duration, one after the other.
    """
    from pathwarp.compare.agree import ways
    from pathwarp.plan.request import LARGEST_SEED, MOST_RUNS, Request

    complaints: list[Complaint] = []
    selection = read_selection(complaints, **chosen)
    numbers: dict[str, Any] = {
        "runs": read_number("runs", runs, MOST_RUNS, complaints) or 1,
        "seed": read_number("seed", seed, LARGEST_SEED, complaints) or 1,
    }
    request = Request(catalogue.root, **selection, **numbers, with_baseline=True)
    with gather(complaints):
        planned = ways.plan(request)
    if complaints:
        raise Complaints(complaints)
    cpus = len(os.sched_getaffinity(0))
    if ways.run(planned, request, cpus):
        return Exit.FAILED
    from pathwarp.compare.agree.quantities import quantities
    from pathwarp.compare.agree.report import machines, render
    from pathwarp.results.reading import by_group

    sealed = {}
    for name, trials in planned.items():
        sealed[name], lines = ways.results(catalogue.root, trials, cpus, complaints)
        for line in lines:
            click.echo(f"pathwarp: {line}", err=True)
    if complaints:
        # What is compared is pairs: without one of them there is nothing to say.
        raise Complaints(complaints, Exit.FAILED)
    groups = {name: by_group(results) for name, results in sealed.items()}
    metrics = planned[ways.WAYS[0].name][0].scenario.metrics
    for traffic, variants in groups[ways.WAYS[0].name].items():
        for variant in variants:
            found = {name: quantities(group[traffic][variant], metrics) for name, group in groups.items()}
            click.echo(render(variant, traffic, found))
    click.echo(machines([result for results in sealed.values() for result in results]))
    return Exit.DONE
