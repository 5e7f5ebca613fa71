# SPDX-License-Identifier: Apache-2.0
"""The command group `mobility`: make the traces of links to moving vehicles."""

from pathlib import Path

import click

from pathwarp.model.catalogue import Catalogue
from pathwarp.model.links.files import FOLDER
from pathwarp.model.load import load_mobility


@click.group("mobility")
def command() -> None:
    """Generate the traces of links to moving vehicles."""


@command.command()
@click.argument("name")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder to write NAME/NN.csv to.  [default: topologies/traces]"
)
@click.pass_obj
def generate(catalogue: Catalogue, name: str, out: Path | None) -> None:
    """Write the traces of the mobility model NAME, one for each lap; the same bytes each time."""
    from pathwarp.base.atomic import write_data_file
    from pathwarp.generate.mobility.generate import generate as draw

    model = load_mobility(catalogue, name)
    folder = (out or catalogue.root / FOLDER) / model.name
    for number, text in enumerate(draw(model), start=1):
        write_data_file(folder / f"{number:02d}.csv", text)
    click.echo(f"{folder}: {model.laps.count} traces")
