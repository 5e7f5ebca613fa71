# SPDX-License-Identifier: Apache-2.0
"""`pathwarp check-results`."""

from collections import Counter

import click

from pathwarp.base.complaints import Exit
from pathwarp.commands.options import option, shown
from pathwarp.model.catalogue import Catalogue


@click.command("check-results")
@option("scenario", "The scenario whose results are checked.  [default: all]")
@click.pass_obj
def command(catalogue: Catalogue, scenario: str | None) -> Exit:
    """Hash the sealed results again, and hold metrics against their records; name each file that is not as it was."""
    from pathwarp.measure.code import measuring_code
    from pathwarp.results import integrity
    from pathwarp.results.metricsfile import State

    checked = bad = without = files = size_bytes = 0
    metrics: Counter[State | None] = Counter()
    for folder in integrity.check_results(catalogue.root / "results", measuring_code(), scenario or ""):
        checked, files, size_bytes = checked + 1, files + folder.files, size_bytes + folder.size_bytes
        bad += bool(folder.problems)
        metrics[folder.metrics] += 1
        without += folder.metrics is None and not folder.problems
        for problem in (*folder.problems, *folder.unusable):
            click.echo(f"{shown(folder.folder)}/{problem}")
    click.echo(f"{checked - bad} of {checked} sealed trials are as they were sealed: {files} files, {size_bytes} B")
    sound = metrics[State.CURRENT] + metrics[State.OUTDATED]
    click.echo(f"{sound} of {checked - without} have metrics that are as they were made, from these raw files")
    others = {
        State.OUTDATED: "of these are of other measuring code: the next table, or `make measure`, makes them again",
        State.MISSING: "have no metrics yet: the next table, or `make measure`, makes them",
        State.UNUSABLE: "have metrics that are damaged: `make measure` makes them again",
    }
    for state, words in others.items():
        if metrics[state]:
            click.echo(f"{metrics[state]} {words}")
    if bad:
        click.echo("what is damaged can't be mended: remove these folders and run the trials again", err=True)
    return Exit.FAILED if bad or metrics[State.UNUSABLE] else Exit.DONE
