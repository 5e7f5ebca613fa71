# SPDX-License-Identifier: Apache-2.0
"""`pathwarp table`."""

from typing import Any

import click

from pathwarp.base.complaints import Complaint, Complaints, Exit
from pathwarp.commands.options import BACKEND, SELECTION, option, read_selection
from pathwarp.commands.selection import print_table
from pathwarp.model.backends.registry import backend_complaint
from pathwarp.model.catalogue import Catalogue, suggest


@click.command("table")
@SELECTION
@BACKEND
@option("metric", "A key of metrics.json.  [default: the scenario's first]")
@click.pass_obj
def command(catalogue: Catalogue, backend: str, metric: str | None, **chosen: Any) -> Exit:
    """Print the table of the trials that are sealed; those that cannot be used are named behind it."""
    from pathwarp.model.metrics import METRICS

    complaints = list(backend_complaint(backend))
    selection = read_selection(complaints, **chosen)
    if metric and metric not in METRICS:
        what = f"unknown metric {metric[:40]!r}"
        complaints.append(Complaint("metric", what, ", ".join(METRICS), suggest(metric, tuple(METRICS))))
    if complaints:
        raise Complaints(complaints)
    return print_table(catalogue, selection, backend, metric)
