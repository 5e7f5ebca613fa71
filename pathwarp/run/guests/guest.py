# SPDX-License-Identifier: Apache-2.0
"""What a guest says on its console, and how it came to its end, in words."""

import os
import re
import signal
from pathlib import Path

CONSOLE = "logs/console.txt"
_LINES = 12
# A console can be as long as the disk has room.
_BYTES = 64 * 1024
_PANIC = re.compile(r"Kernel panic - not syncing: (.*)")


class GuestFailed(Exception):
    """A guest that did not get to its end, with the reason and the console's last lines."""


def describe_status(status: int) -> str:
    """How a process ended, from its status as subprocess or a shell has it."""
    number = -status if status < 0 else status - 128
    try:
        return f"was killed by {signal.Signals(number).name}"
    except ValueError:
        return f"ended early, status {status}"


def last_lines(run: Path) -> str:
    """The end of the guest's console, indented, for messages."""
    return tail(run / CONSOLE)


def tail(log: Path) -> str:
    """The last lines of a log, indented, for messages."""
    return "".join(f"\n    | {line}" for line in _end(log).splitlines()[-_LINES:])


def panic(run: Path) -> str:
    """What the guest's kernel said when it panicked; nothing when it did not."""
    panics = _PANIC.findall(console(run))
    return f"the guest's kernel panicked: {panics[-1].strip()}" if panics else ""


def console(run: Path) -> str:
    """The end of the guest's console in a run folder; empty when it can't be read."""
    return _end(run / CONSOLE)


def _end(log: Path) -> str:
    try:
        with open(log, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            stream.seek(max(0, size - _BYTES))
            return stream.read().decode(errors="replace")
    except OSError:
        return ""
