# SPDX-License-Identifier: Apache-2.0
"""`pathwarp list`."""

import click

from pathwarp.base.complaints import Complaint, Complaints
from pathwarp.model.catalogue import FILE_KINDS, Catalogue


@click.command("list")
@click.pass_obj
def command(catalogue: Catalogue) -> None:
    """Name the scenarios, variants, traffic and topologies there are."""
    complaints: list[Complaint] = []
    titles = {kind: catalogue.titles(kind, complaints) for kind in FILE_KINDS}
    width = max((len(name) for named in titles.values() for name in named), default=0)
    for kind, named in titles.items():
        click.echo(f"{kind.option}:")
        for name, title in named.items():
            click.echo(f"  {name:<{width}}  {title}")
    if complaints:
        raise Complaints(complaints)
