# SPDX-License-Identifier: Apache-2.0
"""The commands. What one needs is imported when it runs, so that `list`, and a run's first guest, start at once."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import click

from pathwarp.base import interrupt
from pathwarp.base.complaints import Complaints, Exit
from pathwarp.base.engine import ENGINE
from pathwarp.base.oserrors import describe
from pathwarp.commands.options import option
from pathwarp.model.catalogue import Catalogue

COMMANDS = Path(__file__).with_name("commands")
# What commands share; all other files there are commands.
SHARED = ("judges", "options", "selection")


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
    "root", "The project's folder.  [default: where this program is]", type=click.Path(path_type=Path), default=ENGINE
)
@click.pass_context
def cli(context: click.Context, root: Path) -> None:
    """Measure how Multipath TCP recovers from losses, on real kernels in virtual time."""
    try:
        folder = root.resolve()
        os.stat(folder)
    except OSError as error:
        raise Complaints.one("root", f"{str(root)[:80]!r} is no folder that can be read: {error.strerror}") from None
    context.obj = Catalogue(folder)


def main(arguments: Sequence[str]) -> int:
    """Run a command and return its exit status; bad input is said in full on standard error."""
    try:
        try:
            try:
                return int(cli.main(list(arguments), prog_name="pathwarp", standalone_mode=False) or Exit.DONE)
            finally:
                sys.stdout.flush()
        except (Complaints, click.ClickException, OSError) as error:
            # Who ends all that runs ends the programs that were called, too: what comes of that is nobody's fault.
            interrupt.act()
            return _explain(error)
    except (KeyboardInterrupt, click.Abort):
        click.echo("pathwarp: interrupted", err=True)
        return Exit.INTERRUPTED


def _explain(error: Complaints | click.ClickException | OSError) -> int:
    """Say why a command failed; its exit status."""
    match error:
        case Complaints():
            click.echo(str(error), err=True)
            if error.code == Exit.BAD_INPUT:
                faults = f"{len(error.complaints)} fault{'s' if len(error.complaints) > 1 else ''}"
                click.echo(f"pathwarp: {faults} in the input, nothing was changed", err=True)
            return error.code
        case click.ClickException():
            error.show()
            return Exit.BAD_INPUT
        case BrokenPipeError():
            # The reader went away (`| head`).
            _drop_output()
        case _:
            _drop_output()
            click.echo(f"pathwarp: {describe(error)}", err=True)
    return Exit.FAILED


def _drop_output() -> None:
    """Give standard output up: Python would complain again when it flushes at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
