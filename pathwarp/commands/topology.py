# SPDX-License-Identifier: Apache-2.0
"""`pathwarp topology`."""

from pathlib import Path
from typing import Any

import click

from pathwarp.base.complaints import Complaint, Complaints, gather
from pathwarp.commands.options import option, shown
from pathwarp.model.catalogue import Catalogue
from pathwarp.model.overrides import OPTION, read_overrides

# Below the folder of results.
FOLDER = "topologies"


@click.command("topology")
@option("name", "The topology.")
@option(OPTION, "PATH=VALUE, a change to it: topology.links.wlan.down.rate=5 Mbit/s.", multiple=True)
@option("out", "The folder for the drawing.  [default: results/topologies]", type=click.Path(path_type=Path))
@click.pass_obj
def command(catalogue: Catalogue, name: str | None, out: Path | None, **chosen: Any) -> None:
    """Draw a topology from its file, as SVG and PNG: nodes, links with what shapes each direction, paths."""
    from pathwarp.model.load import load_topology
    from pathwarp.present.topology import draw

    complaints: list[Complaint] = []
    overrides = read_overrides(chosen[OPTION], complaints)
    topology = None
    with gather(complaints):
        topology = load_topology(catalogue, name or "", overrides)
    if complaints or topology is None:
        raise Complaints(complaints)
    for path in draw(topology, out or catalogue.root / "results" / FOLDER):
        click.echo(shown(path))
