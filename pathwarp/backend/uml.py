# SPDX-License-Identifier: Apache-2.0
"""User Mode Linux in virtual time: the guest is a process of the user, no root and no KVM needed."""

import os
import re
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from pathwarp.backend.processes import dying_with_caller, end_family
from pathwarp.backend.settings import GuestSettings
from pathwarp.backend.watchdog import Overdue, watch
from pathwarp.build.lab import lab_root

# The command that gives another one namespaces of its own, which end with it.
NAMESPACES = ("unshare", "--user", "--map-root-user", "--mount", "--pid", "--net", "--fork", "--kill-child")
_CONSOLE_LINES = 12
# A console can be as long as the disk has room.
_CONSOLE_BYTES = 64 * 1024
# What the guest's kernel says of a process that was killed on the host. To the guest it looks like a crash of its own.
_MUTILATED = re.compile(r"userspace - ptrace .* failed")
_PANIC = re.compile(r"Kernel panic - not syncing: (.*)")


class GuestFailed(Exception):
    """A guest that did not get to its end, with the reason and the console's last lines."""


@dataclass(frozen=True)
class Uml:
    """Guests of one project folder."""

    root: Path

    def command(self, kernel: Path, run: Path, seed: int, time_mode: str, settings: GuestSettings) -> list[str]:
        """The guest's command line; `kernel` is a folder with the program `linux`."""
        clock = {
            "inf-cpu": ["time-travel=inf-cpu", f"time-travel-start={settings.start_ns}"],
            # The kernel reads the host's clock.
            "wall-clock": [],
        }
        script = str(self.root / "vms" / "uml-start.sh")
        code = self.root / "pathwarp" / "guest"
        what = [str(kernel), str(lab_root(self.root)), str(code), str(run), settings.memory, str(seed)]
        return [*NAMESPACES, "sh", script, *what, *clock[time_mode]]

    def run(
        self, kernel: Path, run: Path, seed: int, virtual_s: float, time_mode: str, settings: GuestSettings
    ) -> None:
        """Run one guest to its end on the CPUs that the caller is bound to; GuestFailed when it does not get there.

        The guest's processes live in a PID namespace that ends with its first process; none outlives the call.
        """
        with open(run / "logs" / "console.txt", "wb") as console:
            process = subprocess.Popen(
                self.command(kernel, run.resolve(), seed, time_mode, settings),
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                start_new_session=True,
                preexec_fn=dying_with_caller(),
            )
            try:
                watch(process.pid, settings.watchdog, virtual_s)
            except Overdue as overdue:
                raise GuestFailed(f"{overdue}{last_lines(run)}") from None
            finally:
                if process.poll() != 0:
                    # Not the leader alone: what it started may not have heard of its end yet.
                    end_family(process.pid)
                status = process.wait()
        # One killed while it powers off has said its last word, but its console, which is a raw file, may not be whole.
        if status != 0 or not (run / "logs" / "guest.json").exists():
            raise GuestFailed(f"{_end(status, run)}{last_lines(run)}")
        if _MUTILATED.search(_console(run)):
            raise GuestFailed(f"a process of the guest was killed on the host{last_lines(run)}")


def describe_status(status: int) -> str:
    """How a process ended, from its status as subprocess or a shell has it."""
    number = -status if status < 0 else status - 128
    try:
        return f"was killed by {signal.Signals(number).name}"
    except ValueError:
        return f"ended early, status {status}"


def last_lines(run: Path) -> str:
    """The end of the guest's console, indented, for messages."""
    lines = _console(run).splitlines()[-_CONSOLE_LINES:]
    return "".join(f"\n    | {line}" for line in lines)


def _end(status: int, run: Path) -> str:
    panics = _PANIC.findall(_console(run))
    return f"the guest's kernel panicked: {panics[-1].strip()}" if panics else f"the guest {describe_status(status)}"


def _console(run: Path) -> str:
    try:
        with open(run / "logs" / "console.txt", "rb") as console:
            size = os.fstat(console.fileno()).st_size
            console.seek(max(0, size - _CONSOLE_BYTES))
            return console.read().decode(errors="replace")
    except OSError:
        return ""
