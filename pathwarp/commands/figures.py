# SPDX-License-Identifier: Apache-2.0
"""`pathwarp figures`."""

from typing import Any

import click

from pathwarp.base.complaints import Complaints, Exit
from pathwarp.commands.options import BACKEND, SELECTION, read_selection, shown
from pathwarp.commands.selection import read_results, say_left_out
from pathwarp.model.backends.registry import backend_complaint
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
    from pathwarp.model.load import load_variants
    from pathwarp.present.figures import draw_figures

    scenario, results, folder = read_results(catalogue, selection, backend, complaints)
    variants = load_variants(catalogue, tuple(dict.fromkeys(result.variant for result in results)))
    for path in draw_figures(scenario, variants, results, folder / "figures", complaints):
        click.echo(shown(path))
    return say_left_out(complaints)
