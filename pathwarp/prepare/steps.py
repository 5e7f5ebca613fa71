# SPDX-License-Identifier: Apache-2.0
"""The steps of a preparation that the playbooks call: `python -m pathwarp.prepare.steps base uml`.

Each prints `built`, or `is up to date` when there was nothing to do, and its complaints on standard error.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from pathwarp.base import interrupt
from pathwarp.base.complaints import Complaints, Exit
from pathwarp.base.engine import ENGINE
from pathwarp.model.catalogue import Catalogue
from pathwarp.model.kerneltree import KernelTree
from pathwarp.model.load import load_variant, load_variants
from pathwarp.prepare import box, lab
from pathwarp.prepare.base import Base, find_base
from pathwarp.prepare.kernel import Kernel, find_kernel, group_by_kernel
from pathwarp.prepare.programs import Programs

UP_TO_DATE = "is up to date"


@dataclass(frozen=True)
class Project:
    """A project's folder, and the source that its kernels are made from, if not the packaged one."""

    root: Path
    source: KernelTree | None


@click.group()
@click.option("--root", type=click.Path(path_type=Path), default=ENGINE)
@click.option("--source", default="", help="A user's own source, as JSON; without it the packaged one.")
@click.pass_context
def steps(context: click.Context, root: Path, source: str) -> None:
    """Steps of a preparation, for the playbooks."""
    context.obj = Project(root.resolve(), KernelTree.from_json(source) if source else None)


@steps.command()
@click.argument("backend")
@click.pass_obj
def base(project: Project, backend: str) -> None:
    """Build the kernel that the variants' are made from, and the one that it is made from, if any."""
    wanted = find_base(project.root, backend, project.source)
    chain = [one for one in (wanted.below, wanted) if one and not one.is_current()]
    for one in chain:
        _build(project.root, one, f"base-{one.backend}")
    click.echo("built" if chain else UP_TO_DATE)


@steps.command()
@click.argument("backend")
@click.argument("variants")
@click.pass_obj
def list_kernels(project: Project, backend: str, variants: str) -> None:
    """Print the kernels of VARIANTS (commas between them) as a JSON list: the name of each, and whose it is."""
    wanted = load_variants(Catalogue(project.root), tuple(name for name in variants.split(",") if name))
    groups = group_by_kernel(project.root, wanted, backend, project.source)
    click.echo(json.dumps([{"name": kernel.name, "variants": [one.name for one in group]} for kernel, group in groups]))


@steps.command()
@click.argument("backend")
@click.argument("variant")
@click.pass_obj
def kernel(project: Project, backend: str, variant: str) -> None:
    """Build the kernel of a variant."""
    wanted = find_kernel(project.root, load_variant(Catalogue(project.root), variant), backend, project.source)
    _build_stale(project.root, wanted, f"kernel-{wanted.name}-{backend}")


@steps.command()
@click.pass_obj
def programs(project: Project) -> None:
    """Build the programs of the kernel's own tests."""
    _build_stale(project.root, Programs(project.root, project.source), "programs")


@steps.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("name")
@click.pass_obj
def finish_lab(project: Project, folder: Path, name: str) -> None:
    """Take the root file system in FOLDER/root for the lab root of that name."""
    lab.finish(project.root, folder.resolve(), name)
    click.echo("built")


@steps.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.pass_obj
def finish_box(project: Project, folder: Path) -> None:
    """Take the box and the key in FOLDER for the virtual machines' box."""
    box.finish(project.root, folder.resolve())
    click.echo("built")


def _build_stale(root: Path, wanted: Kernel | Programs, name: str) -> None:
    """Build it where it is not up to date, and say which."""
    if wanted.is_current():
        click.echo(UP_TO_DATE)
        return
    _build(root, wanted, name)
    click.echo("built")


def _build(root: Path, wanted: Base | Kernel | Programs, name: str) -> None:
    """Build it; what the programs print goes to the log of that name."""
    logs = root / "build" / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    with (logs / f"{name}.log").open("w", encoding="utf-8") as log:
        wanted.build(log)


def main() -> int:
    """Run a step and return its exit status.

    Until here a request to end has killed the process: nothing was begun.
    """
    interrupt.begin()
    try:
        steps.main(standalone_mode=False)
    except (KeyboardInterrupt, click.Abort):
        return Exit.INTERRUPTED
    except Complaints as complaints:
        click.echo(str(complaints), err=True)
        return complaints.code
    except click.ClickException as error:
        error.show()
        return Exit.BAD_INPUT
    except OSError as error:
        click.echo(f"{error.filename or 'preparation'}: {error.strerror}", err=True)
        return Exit.FAILED
    return Exit.DONE


if __name__ == "__main__":
    sys.exit(main())
