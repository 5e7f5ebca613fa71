# SPDX-License-Identifier: Apache-2.0
"""The command as its user calls it, in a project folder of the test's own, and what it leaves behind."""

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pathwarp.base.interrupt import ENDINGS
from pathwarp.run.guests.processes import dying_with_caller

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Project:
    """A project folder and the command in it."""

    root: Path

    def start(self, *arguments: str, under: tuple[str, ...] = ()) -> subprocess.Popen:
        """Start the engine's command in a process group of its own; `under` is a command that runs another."""
        return subprocess.Popen(
            [*under, sys.executable, "-m", "pathwarp", "--root", str(self.root), *arguments],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=_as_from_a_terminal(),
        )

    def call(self, *arguments: str, under: tuple[str, ...] = ()) -> tuple[int, str, str]:
        """Run the command: exit status, standard output, standard error."""
        process = self.start(*arguments, under=under)
        output, errors = process.communicate()
        return process.returncode, output, errors

    def make(self, *arguments: str) -> subprocess.CompletedProcess:
        """Run make in the project folder."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
        # The engine is a link to the checkout, which it would take for the project.
        environment["PATHWARP_ROOT"] = str(self.root)
        command = ["make", *arguments]
        return subprocess.run(
            command,
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def sealed(self) -> list[Path]:
        """All sealed run folders."""
        return sorted(path.parent for path in (self.root / "results").glob("[!.]*/*/*/seed-*/manifest.json"))

    def unsealed(self) -> list[Path]:
        """Whatever is left of trials at work."""
        return list((self.root / "results" / ".in-progress").glob("*"))

    def own(self, name: str) -> Path:
        """Make a part of the project that is linked to the checkout the test's own; `vms`, `pathwarp`."""
        place = self.root / name
        if place.is_symlink():
            source = place.resolve()
            place.unlink()
            shutil.copytree(source, place, symlinks=True)
        return place

    def replace(self, name: str, old: str, new: str) -> None:
        """Put `new` for `old` in a file of the project, which becomes the test's own."""
        self.own(Path(name).parts[0])
        file = self.root / name
        text = file.read_text()
        assert old in text, f"{name} has no {old!r}"
        file.write_text(text.replace(old, new))


def _as_from_a_terminal() -> Callable[[], None]:
    """What the command has to call first: it hears Ctrl-C, also when the tests run unheard, and ends with them.

    Requests to end wait until it is ready for them, as `bin/pathwarp` has it.
    """
    die = dying_with_caller()

    def prepare() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
        die()

    return prepare


def processes_below(folder: Path) -> dict[int, str]:
    """Living processes that name the folder or have something of it mounted, as guests have: id to command line."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
            mounts = (entry / "mountinfo").read_text(errors="replace")
        except OSError:
            continue
        # A zombie has no command line.
        if line and (str(folder) in line or str(folder) in mounts) and int(entry.name) != os.getpid():
            found[int(entry.name)] = line
    return found


def left_over(folder: Path, patience_s: float = 20) -> dict[int, str]:
    """The processes of `processes_below` that don't end by themselves in this time."""
    until = time.monotonic() + patience_s
    while (found := processes_below(folder)) and time.monotonic() < until:
        for number in found:
            try:
                descriptor = os.pidfd_open(number)
            except ProcessLookupError:
                continue
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            poll.poll(max(0.0, until - time.monotonic()) * 1000)
            os.close(descriptor)
    return found
