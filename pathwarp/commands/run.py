# SPDX-License-Identifier: Apache-2.0
"""`pathwarp run`."""

from typing import Any

import click

from pathwarp.base.complaints import Complaint, Complaints, Exit, gather
from pathwarp.commands.options import BACKEND, SELECTION, option, read_number
from pathwarp.commands.selection import plan, print_table
from pathwarp.model.catalogue import Catalogue

MOST_RETRIES = 100


@click.command("run")
@SELECTION
@option("runs", "How many seeds.  [default: the scenario's]")
@option("seed", "The first seed.  [default: 1]")
@BACKEND
@option("jobs", "Guests side by side, a CPU each.  [default: all CPUs that this process may use]")
@option("retry", "How often a trial that fails is run again.  [default: 0]")
@option("force", "Run what is already sealed, too, and compare it with that.", is_flag=True)
@click.pass_obj
def command(
    catalogue: Catalogue,
    runs: str | None,
    seed: str | None,
    backend: str,
    jobs: str | None,
    retry: str | None,
    force: bool,
    **chosen: Any,
) -> Exit:
    """Run the trials of a scenario that are not sealed yet, and print what all of them say.

    The scenario's baseline is run as well, asked for or not: a variant says something by its difference. With --kernel
    it has to be asked for. With --force what is sealed is run again and compared with what comes out, byte by byte; in
    real time it is replaced.
    """
    complaints: list[Complaint] = []
    retries = read_number("retry", retry, MOST_RETRIES, complaints, least=0)
    with gather(complaints):
        # On a source of the user's own, the baseline's patches need not fit.
        with_baseline = not chosen["kernel"]
        trials, workers, selection = plan(catalogue, runs, seed, jobs, backend, with_baseline, **chosen)
    if complaints:
        raise Complaints(complaints)
    from pathwarp.compare.repeated import repeat
    from pathwarp.run.queue import run_trials

    failed = run_trials(catalogue.root, trials, workers, retries or 0, repeat if force else None)
    try:
        left_out = print_table(catalogue, selection, backend, seeds=sorted({trial.seed for trial in trials}))
    except Complaints as complaints_of_results:
        # A trial failed; that there are no results then is no wonder.
        raise Complaints(complaints_of_results.complaints, Exit.FAILED) from None
    return Exit.FAILED if failed else left_out
