# SPDX-License-Identifier: Apache-2.0
"""`pathwarp check-results`."""

import click

from pathwarp.base.complaints import Exit
from pathwarp.commands.options import option, shown
from pathwarp.model.catalogue import Catalogue


@click.command("check-results")
@option("scenario", "The scenario whose results are checked.  [default: all]")
@click.pass_obj
def command(catalogue: Catalogue, scenario: str | None) -> Exit:
    """Hash the sealed results again; name each file that is damaged, missing or extra."""
    from pathwarp.results import integrity

    checked = bad = files = size_bytes = 0
    for folder in integrity.check_results(catalogue.root / "results", scenario or ""):
        checked, files, size_bytes = checked + 1, files + folder.files, size_bytes + folder.size_bytes
        bad += bool(folder.problems)
        for problem in folder.problems:
            click.echo(f"{shown(folder.folder)}/{problem}")
    click.echo(f"{checked - bad} of {checked} sealed trials are as they were sealed: {files} files, {size_bytes} B")
    if bad:
        click.echo("what is damaged can't be mended: remove these folders and run the trials again", err=True)
    return Exit.FAILED if bad else Exit.DONE
