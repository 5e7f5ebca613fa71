# SPDX-License-Identifier: Apache-2.0
"""`pathwarp verify`."""

from typing import Any

import click

from pathwarp.base.complaints import Complaint, Complaints, Exit, gather
from pathwarp.commands.options import BACKEND, SELECTION, option, read_number
from pathwarp.commands.selection import plan
from pathwarp.model.catalogue import Catalogue


@click.command("verify")
@SELECTION
@option("runs", "How many seeds.  [default: 1]")
@option("seed", "The first seed.  [default: 1]")
@option("times", "How often each trial is run again.  [default: 1]")
@option("jobs", "Guests side by side, a CPU each.  [default: all CPUs that this process may use]")
@BACKEND
@click.pass_obj
def command(
    catalogue: Catalogue,
    runs: str | None,
    seed: str | None,
    times: str | None,
    jobs: str | None,
    backend: str,
    **chosen: Any,
) -> Exit:
    """Run sealed trials again, and compare what comes out with them, byte by byte."""
    from pathwarp.plan.request import MOST_RUNS

    complaints: list[Complaint] = []
    often = read_number("times", times, MOST_RUNS, complaints)
    with gather(complaints):
        trials, workers, _ = plan(catalogue, runs or "1", seed, jobs, backend, **chosen)
    if complaints:
        raise Complaints(complaints)
    from pathwarp.compare.verify import verify_trials

    return Exit.FAILED if verify_trials(catalogue.root, trials, workers, often or 1) else Exit.DONE
