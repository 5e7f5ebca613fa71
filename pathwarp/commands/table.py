# SPDX-License-Identifier: Apache-2.0
"""`pathwarp table`."""

from typing import Any

import click

from pathwarp.base.complaints import Complaints
from pathwarp.commands.options import BACKEND, SELECTION, option, read_selection
from pathwarp.commands.selection import print_table
from pathwarp.model.backends.registry import backend_complaint
from pathwarp.model.catalogue import Catalogue


@click.command("table")
@SELECTION
@BACKEND
@option("metric", "A key of metrics.json.  [default: the scenario's first]")
@click.pass_obj
def command(catalogue: Catalogue, backend: str, metric: str | None, **chosen: Any) -> None:
    """Print the table of the trials that are sealed."""
    complaints = list(backend_complaint(backend))
    selection = read_selection(complaints, **chosen)
    if complaints:
        raise Complaints(complaints)
    print_table(catalogue, selection, backend, metric)
