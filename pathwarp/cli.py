# SPDX-License-Identifier: Apache-2.0
"""The commands. What one needs is imported when it runs, so that `list`, and a run's first guest, start at once."""

import os
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from pathwarp.base.complaints import Complaint, Complaints, Exit, gather
from pathwarp.base.oserrors import describe
from pathwarp.commands.options import BACKEND, SELECTION, option, read_number, read_selection, shown
from pathwarp.model.catalogue import KINDS, Catalogue

ROOT = Path(__file__).resolve().parents[1]
MOST_RETRIES = 100


class LazyGroup(click.Group):
    """A group that imports some of its commands, given as name to (module, attribute), when they are called."""

    def __init__(self, *args: Any, lazy: dict[str, tuple[str, str]] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = lazy or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *self.lazy])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.lazy:
            module, attribute = self.lazy[cmd_name]
            return getattr(import_module(module), attribute)
        return super().get_command(ctx, cmd_name)


@click.group(
    cls=LazyGroup,
    lazy={
        "build": ("pathwarp.commands.build", "build"),
        "traffic": ("pathwarp.commands.traffic", "traffic"),
        "mobility": ("pathwarp.commands.mobility", "mobility"),
        "diff": ("pathwarp.commands.diff", "diff"),
        "counts": ("pathwarp.commands.counts", "counts"),
        "bench": ("pathwarp.commands.bench", "bench"),
        "agree": ("pathwarp.commands.agree", "agree"),
    },
)
@option(
    "root", "The project's folder.  [default: where this program is]", type=click.Path(path_type=Path), default=ROOT
)
@click.pass_context
def cli(context: click.Context, root: Path) -> None:
    """Measure how Multipath TCP recovers from losses, on real kernels in virtual time."""
    context.obj = Catalogue(root.resolve())


@cli.command(name="list")
@click.pass_obj
def list_(catalogue: Catalogue) -> None:
    """Name the scenarios, variants, traffic and topologies there are."""
    complaints: list[Complaint] = []
    titles = {kind: catalogue.titles(kind, complaints) for kind in KINDS}
    width = max((len(name) for named in titles.values() for name in named), default=0)
    for kind, named in titles.items():
        click.echo(f"{kind.option}:")
        for name, title in named.items():
            click.echo(f"  {name:<{width}}  {title}")
    if complaints:
        raise Complaints(complaints)


@cli.command()
@SELECTION
@option("runs", "How many seeds.  [default: the scenario's]")
@option("seed", "The first seed.  [default: 1]")
@BACKEND
@option("jobs", "Guests side by side, a CPU each.  [default: all CPUs that this process may use]")
@option("retry", "How often a trial that fails is run again.  [default: 0]")
@option("force", "Run what is already sealed, too.", is_flag=True)
@click.pass_obj
def run(
    catalogue: Catalogue,
    runs: str | None,
    seed: str | None,
    backend: str,
    jobs: str | None,
    retry: str | None,
    force: bool,
    **chosen: Any,
) -> Exit:
    """Run the trials of a scenario that are not sealed yet, and print what all of them say.

    The scenario's baseline is run as well, asked for or not: a variant says something by its difference.
    """
    complaints: list[Complaint] = []
    retries = read_number("retry", retry, MOST_RETRIES, complaints, least=0)
    with gather(complaints):
        trials, workers, selection = _plan(catalogue, runs, seed, jobs, backend, with_baseline=True, **chosen)
    if complaints:
        raise Complaints(complaints)
    from pathwarp.run.queue import run_trials

    failed = run_trials(catalogue.root, trials, workers, force, retries or 0)
    try:
        _print_table(catalogue, selection, backend, seeds=sorted({trial.seed for trial in trials}))
    except Complaints as complaints_of_results:
        # A trial failed; that there are no results then is no wonder.
        raise Complaints(complaints_of_results.complaints, Exit.FAILED) from None
    return Exit.FAILED if failed else Exit.DONE


@cli.command()
@SELECTION
@BACKEND
@option("metric", "A key of metrics.json.  [default: the scenario's first]")
@click.pass_obj
def table(catalogue: Catalogue, backend: str, metric: str | None, **chosen: Any) -> None:
    """Print the table of the trials that are sealed."""
    complaints = list(_backend_complaint(backend))
    selection = read_selection(complaints, **chosen)
    if complaints:
        raise Complaints(complaints)
    _print_table(catalogue, selection, backend, metric)


@cli.command()
@SELECTION
@BACKEND
@click.pass_obj
def figures(catalogue: Catalogue, backend: str, **chosen: Any) -> None:
    """Draw the figures of the trials that are sealed, as SVG and PNG."""
    complaints = list(_backend_complaint(backend))
    selection = read_selection(complaints, **chosen)
    if complaints:
        raise Complaints(complaints)
    from pathwarp.present.figures import draw_figures

    scenario, results, folder = _results(catalogue, selection, backend)
    for path in draw_figures(scenario, results, folder / "figures"):
        click.echo(shown(path))


@cli.command()
@SELECTION
@option("runs", "How many seeds.  [default: 1]")
@option("seed", "The first seed.  [default: 1]")
@option("times", "How often each trial is run again.  [default: 1]")
@option("jobs", "Guests side by side, a CPU each.  [default: all CPUs that this process may use]")
@BACKEND
@click.pass_obj
def verify(
    catalogue: Catalogue,
    runs: str | None,
    seed: str | None,
    times: str | None,
    jobs: str | None,
    backend: str,
    **chosen: Any,
) -> Exit:
    """Run sealed trials again, and compare what comes out with them, byte by byte."""
    from pathwarp.plan.trial import MOST_RUNS

    complaints: list[Complaint] = []
    often = read_number("times", times, MOST_RUNS, complaints)
    with gather(complaints):
        trials, workers, _ = _plan(catalogue, runs or "1", seed, jobs, backend, **chosen)
    if complaints:
        raise Complaints(complaints)
    from pathwarp.compare.verify import verify_trials

    return Exit.FAILED if verify_trials(catalogue.root, trials, workers, often or 1) else Exit.DONE


@cli.command("check-results")
@option("scenario", "The scenario whose results are checked.  [default: all]")
@click.pass_obj
def check_results(catalogue: Catalogue, scenario: str | None) -> Exit:
    """Hash the sealed results again; name each file that is damaged, missing or extra."""
    from pathwarp.results import integrity as check

    checked = bad = files = size_bytes = 0
    for folder in check.check_results(catalogue.root / "results", scenario or ""):
        checked, files, size_bytes = checked + 1, files + folder.files, size_bytes + folder.size_bytes
        bad += bool(folder.problems)
        for problem in folder.problems:
            click.echo(f"{shown(folder.folder)}/{problem}")
    click.echo(f"{checked - bad} of {checked} sealed trials are as they were sealed: {files} files, {size_bytes} B")
    if bad:
        click.echo("what is damaged can't be mended: remove these folders and run the trials again", err=True)
    return Exit.FAILED if bad else Exit.DONE


def _backend_complaint(name: str) -> Iterator[Complaint]:
    from pathwarp.plan.trial import backend_complaint

    yield from backend_complaint(name)


def _plan(
    catalogue: Catalogue,
    runs: str | None,
    seed: str | None,
    jobs: str | None,
    backend: str = "uml",
    with_baseline: bool = False,
    **chosen: Any,
) -> tuple[list[Any], int, dict[str, Any]]:
    """The trials asked for, how many at a time, and the selection that they are from."""
    from pathwarp.plan.trial import LARGEST_SEED, MOST_RUNS, Request, plan_trials

    complaints: list[Complaint] = []
    cpus = len(os.sched_getaffinity(0))
    selection = read_selection(complaints, **chosen)
    numbers = {
        "runs": read_number("runs", runs, MOST_RUNS, complaints),
        "seed": read_number("seed", seed, LARGEST_SEED, complaints),
    }
    workers = read_number("jobs", jobs, cpus, complaints) or cpus
    if backend == "vm" and jobs and workers > 1:
        complaints.append(Complaint("jobs", "a virtual machine has this one for itself", "1"))
    numbers = {name: number for name, number in numbers.items() if number}
    trials = []
    with gather(complaints):
        options = {"backend": backend, "with_baseline": with_baseline}
        trials = plan_trials(Request(catalogue.root, **options, **selection, **numbers))
    if complaints:
        raise Complaints(complaints)
    return trials, workers, selection


def _results(
    catalogue: Catalogue, selection: dict[str, Any], backend: str, seeds: Sequence[int] | None = None
) -> tuple[Any, Any, Path]:
    """The scenario; the sealed trials selected and, where they are sealed too, the baseline's; their folder."""
    from pathwarp.model.load import load_experiment
    from pathwarp.model.overrides import label
    from pathwarp.results.reading import load_results

    experiment = load_experiment(catalogue, **selection)
    scenario = experiment.scenario
    name = label(scenario.name, selection["settings"], backend)
    variants = list(dict.fromkeys([scenario.baseline, *experiment.variants]))
    results = load_results(catalogue.root / "results", name, variants, list(experiment.workloads), seeds)
    return scenario, results, catalogue.root / "results" / name


def _print_table(
    catalogue: Catalogue,
    selection: dict[str, Any],
    backend: str,
    metric: str | None = None,
    seeds: Sequence[int] | None = None,
) -> None:
    from pathwarp.present.table import render
    from pathwarp.results.reading import by_headline

    scenario, results, folder = _results(catalogue, selection, backend, seeds)
    tables = by_headline(results, (metric,) if metric else scenario.metrics).items()
    click.echo("\n".join(render(part, key, scenario.baseline, shown(folder)) for key, part in tables), nl=False)


def main(arguments: Sequence[str]) -> int:
    """Run a command and return its exit status; bad input is said in full on standard error."""
    try:
        status = int(cli.main(list(arguments), prog_name="pathwarp", standalone_mode=False) or Exit.DONE)
        sys.stdout.flush()
        return status
    except Complaints as complaints:
        click.echo(str(complaints), err=True)
        if complaints.code == Exit.BAD_INPUT:
            number = len(complaints.complaints)
            click.echo(
                f"pathwarp: {number} fault{'s' if number > 1 else ''} in the input, nothing was changed", err=True
            )
        return complaints.code
    except click.ClickException as error:
        error.show()
        return Exit.BAD_INPUT
    except (KeyboardInterrupt, click.Abort):
        click.echo("pathwarp: interrupted", err=True)
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # The reader went away (`| head`).
        _drop_output()
        return Exit.FAILED
    except OSError as error:
        _drop_output()
        click.echo(f"pathwarp: {describe(error)}", err=True)
        return Exit.FAILED


def _drop_output() -> None:
    """Give standard output up: Python would complain again when it flushes at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
