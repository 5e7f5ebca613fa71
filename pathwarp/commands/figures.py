# SPDX-License-Identifier: Apache-2.0
"""`pathwarp figures`."""

from typing import Any

import click

from pathwarp.base.complaints import Complaints, Exit
from pathwarp.commands.options import BACKEND, SELECTION, read_selection, shown
from pathwarp.commands.selection import backend_complaint, read_results, say_left_out
from pathwarp.model.catalogue import Catalogue


@click.command("figures")
@SELECTION
@BACKEND
@click.pass_obj
def command(catalogue: Catalogue, backend: str, **chosen: Any) -> Exit:
    """Draw the figures of the trials that are sealed, as SVG and PNG; those that cannot be used are named."""
    complaints = list(backend_complaint(backend))
    selection = read_selection(complaints, **chosen)
    if complaints:
        raise Complaints(complaints)
    from pathwarp.present.figures import draw_figures

    scenario, results, folder = read_results(catalogue, selection, backend, complaints)
    for path in draw_figures(scenario, results, folder / "figures", complaints):
        click.echo(shown(path))
    return say_left_out(complaints)
