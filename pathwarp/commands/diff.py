# SPDX-License-Identifier: Apache-2.0
"""`pathwarp diff`."""

from pathlib import Path

import click

from pathwarp.commands.options import option, shown
from pathwarp.model.catalogue import Catalogue


@click.command("diff")
@click.argument("a", envvar="PATHWARP_A", type=click.Path(path_type=Path))
@click.argument("b", envvar="PATHWARP_B", type=click.Path(path_type=Path))
@option("out", "The folder for the diagrams.  [default: the figures of A's scenario]", type=click.Path(path_type=Path))
@click.pass_obj
def command(catalogue: Catalogue, a: Path, b: Path, out: Path | None) -> None:
    """Show the first packet in which the run folders A and B differ, and draw both trials around it.

    Two runs of the kernel's own tests are not drawn.
    """
    from pathwarp.compare.packets.devices import is_selftest, report_runs
    from pathwarp.compare.packets.divergence import find_divergence
    from pathwarp.compare.packets.figure import draw_diff
    from pathwarp.compare.packets.report import report
    from pathwarp.compare.packets.side import read_sides

    if is_selftest(a) and is_selftest(b):
        for line in report_runs(a, b):
            click.echo(line)
        return
    sides = read_sides(a, b)
    divergence = find_divergence(*(side.sightings for side in sides))
    for line in report(sides, divergence):
        click.echo(line)
    if divergence:
        for path in draw_diff(sides, divergence, out, catalogue.root / "results"):
            click.echo(shown(path))
