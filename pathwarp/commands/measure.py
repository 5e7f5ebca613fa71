# SPDX-License-Identifier: Apache-2.0
"""`pathwarp measure`."""

import os

import click

from pathwarp.base.complaints import Complaint, Complaints, Exit, gather
from pathwarp.commands.options import option, read_names, read_number
from pathwarp.commands.selection import say_left_out
from pathwarp.model.catalogue import Catalogue


@click.command("measure")
@option("scenario", "The scenario whose trials are measured, with whatever settings.  [default: all]")
@option("variant", "Variants, comma-separated.  [default: all]")
@option("traffic", "Workloads, comma-separated.  [default: all]")
@option("jobs", "How many at a time.  [default: as many as there are CPUs]")
@click.pass_obj
def command(
    catalogue: Catalogue, scenario: str | None, variant: str | None, traffic: str | None, jobs: str | None
) -> Exit:
    """Make the metrics of sealed trials again from their raw files, where they are not those of the code of now."""
    from pathwarp.measure.again import renew
    from pathwarp.model.catalogue import SELFTESTS
    from pathwarp.results.folders import find_folders

    complaints: list[Complaint] = []
    cpus = len(os.sched_getaffinity(0))
    processes = read_number("jobs", jobs, cpus, complaints) or cpus
    names = {"variants": _names(variant), "traffics": _names(traffic)}
    with gather(complaints):
        folders = find_folders(catalogue.root / "results", scenario or "", **names, without=[SELFTESTS])
    if complaints:
        raise Complaints(complaints)
    renewed = renew(folders, processes, mend=True)
    for line in renewed.lines():
        click.echo(line)
    left_out = f", {len(renewed.without)} can't be measured" if renewed.without else ""
    click.echo(f"{renewed.made} of {len(folders)} measured, {renewed.current} were up to date{left_out}")
    return say_left_out(renewed.complaints)


def _names(text: str | None) -> tuple[str, ...]:
    """The names in an option; none, which is all, for `all`."""
    names = read_names(text)
    return () if names == ("all",) else names
