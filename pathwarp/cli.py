# SPDX-License-Identifier: Apache-2.0
"""The commands. What one needs is imported when it runs, so that `list`, and a run's first guest, start at once."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import click

from pathwarp.base.complaints import Complaints, Exit
from pathwarp.base.oserrors import describe
from pathwarp.commands.options import option
from pathwarp.model.catalogue import Catalogue

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = Path(__file__).with_name("commands")
# What commands share; all other files there are commands.
SHARED = ("options", "selection")


class CommandFolder(click.Group):
    """A group of the commands in `pathwarp/commands`, each imported when it is called: VERB.py has it as `command`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(path.stem.replace("_", "-") for path in COMMANDS.glob("[a-z]*.py") if path.stem not in SHARED)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        return import_module(f"pathwarp.commands.{cmd_name.replace('-', '_')}").command


@click.group(cls=CommandFolder)
@option(
    "root", "The project's folder.  [default: where this program is]", type=click.Path(path_type=Path), default=ROOT
)
@click.pass_context
def cli(context: click.Context, root: Path) -> None:
    """Measure how Multipath TCP recovers from losses, on real kernels in virtual time."""
    context.obj = Catalogue(root.resolve())


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
