# SPDX-License-Identifier: Apache-2.0
"""The steps of a preparation that the playbooks call: `python -m pathwarp.prepare.steps base uml`.

Each prints `built`, or `is up to date` when there was nothing to do, and its complaints on standard error.
"""

import json
import sys
from pathlib import Path

import click

from pathwarp.base import interrupt
from pathwarp.base.complaints import Complaints, Exit
from pathwarp.base.engine import ENGINE
from pathwarp.model.catalogue import Catalogue
from pathwarp.model.load import load_variant, load_variants
from pathwarp.prepare import box, lab
from pathwarp.prepare.base import Base, find_base
from pathwarp.prepare.kernel import Kernel, find_kernel, group_by_kernel

UP_TO_DATE = "is up to date"


@click.group()
@click.option("--root", type=click.Path(path_type=Path), default=ENGINE)
@click.pass_context
def steps(context: click.Context, root: Path) -> None:
    """Steps of a preparation, for the playbooks."""
    context.obj = root.resolve()


@steps.command()
@click.argument("backend")
@click.pass_obj
def base(root: Path, backend: str) -> None:
    """Build the kernel that the variants' are made from."""
    _build(root, find_base(root, backend), f"base-{backend}")


@steps.command()
@click.argument("backend")
@click.argument("variants")
@click.pass_obj
def list_kernels(root: Path, backend: str, variants: str) -> None:
    """Print the kernels of VARIANTS (commas between them) as a JSON list: the name of each, and whose it is."""
    wanted = load_variants(Catalogue(root), tuple(name for name in variants.split(",") if name))
    groups = group_by_kernel(root, wanted, backend)
    click.echo(json.dumps([{"name": kernel.name, "variants": [one.name for one in group]} for kernel, group in groups]))


@steps.command()
@click.argument("backend")
@click.argument("variant")
@click.pass_obj
def kernel(root: Path, backend: str, variant: str) -> None:
    """Build the kernel of a variant."""
    wanted = find_kernel(root, load_variant(Catalogue(root), variant), backend)
    _build(root, wanted, f"kernel-{wanted.name}-{backend}")


@steps.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.pass_obj
def finish_lab(root: Path, folder: Path) -> None:
    """Take the root file system in FOLDER/root for the lab root."""
    lab.finish(root, folder.resolve())
    click.echo("built")


@steps.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.pass_obj
def finish_box(root: Path, folder: Path) -> None:
    """Take the box and the key in FOLDER for the virtual machines' box."""
    box.finish(root, folder.resolve())
    click.echo("built")


def _build(root: Path, wanted: Base | Kernel, name: str) -> None:
    """Build it where it is not up to date; what the programs print goes to the log of that name."""
    if wanted.is_current():
        click.echo(UP_TO_DATE)
        return
    logs = root / "build" / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    with (logs / f"{name}.log").open("w", encoding="utf-8") as log:
        wanted.build(log)
    click.echo("built")


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
