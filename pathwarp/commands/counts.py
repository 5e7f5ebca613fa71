# SPDX-License-Identifier: Apache-2.0
"""`pathwarp counts`."""

from pathlib import Path

import click

from pathwarp.base.complaints import Exit
from pathwarp.commands.options import shown
from pathwarp.model.catalogue import Catalogue


@click.command("counts")
@click.argument("folder", envvar="PATHWARP_A", type=click.Path(path_type=Path))
@click.pass_obj
def command(catalogue: Catalogue, folder: Path) -> Exit:
    """Count a run folder's reinjections three times: from its captures, by tshark, and by the kernel's counters."""
    from pathwarp.compare.counts.tally import tally
    from pathwarp.compare.packets.side import require_run_folders
    from pathwarp.prepare.prepare import prepare_lab

    require_run_folders(folder)
    prepare_lab(catalogue.root)
    found = tally(catalogue.root, folder)
    click.echo(f"{shown(folder.absolute())}: reinjections")
    for line in found.lines():
        click.echo(line)
    return Exit.DONE if found.agree else Exit.FAILED
