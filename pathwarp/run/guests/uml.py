# SPDX-License-Identifier: Apache-2.0
"""User Mode Linux, mostly in virtual time: the guest is a process of the user, no root and no KVM needed."""

import re
import subprocess
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from pathwarp.base.complaints import BadValue
from pathwarp.model.backends.backend import VIRTUAL_MODE, WALL_CLOCK_MODE
from pathwarp.model.backends.uml import BACKEND
from pathwarp.plan.identity import GUEST
from pathwarp.plan.kit import Work
from pathwarp.prepare.lab import lab_root
from pathwarp.prepare.programs import Programs
from pathwarp.run.guests.guest import CONSOLE, GuestFailed, console, describe_status, last_lines, panic
from pathwarp.run.guests.processes import dying_with_caller, end_family
from pathwarp.run.guests.settings import GuestSettings, Watchdog
from pathwarp.run.guests.watchdog import GivenUp, watch

START = "vms/uml-start.sh"
# The command that gives another one namespaces of its own, which end with it.
NAMESPACES = ("unshare", "--user", "--map-root-user", "--mount", "--pid", "--net", "--fork", "--kill-child")
# What the guest's kernel says of a process that was killed on the host. To the guest it looks like a crash of its own.
_MUTILATED = re.compile(r"userspace - ptrace .* failed")


def read_instant_ns(value: object) -> int:
    """`2026-01-01T00:00:00Z` in ns since the epoch."""
    instant = None
    with suppress(ValueError):
        instant = datetime.fromisoformat(value) if isinstance(value, str) else None
    if instant is None or instant.tzinfo is None:
        raise BadValue("is not an instant", "such as 2026-01-01T00:00:00Z")
    return int(instant.timestamp()) * 1_000_000_000


class UmlSettings(GuestSettings):
    """`memory` as the kernel's `mem=` takes it; `start_ns` is the guest's clock at boot, since the epoch."""

    FILE = BACKEND.settings

    memory: Annotated[str, Field(pattern=r"^[1-9][0-9]{0,5}[MG]$")]
    start_ns: Annotated[int, BeforeValidator(read_instant_ns), Field(alias="clock-start")]
    watchdog: Watchdog


class Uml:
    """Guests of one project folder."""

    def __init__(self, root: Path) -> None:
        """Complaints for all that is wrong with the settings."""
        self.root = root
        self.settings = UmlSettings.of(root)

    @staticmethod
    def ground(root: Path) -> str:
        """Nothing of the host's."""
        return ""

    def boot(self, trial: Work) -> list[str]:
        """The guest's command line, with names such as KERNEL (which has the program `linux`) and RUN for folders."""
        clock = {
            VIRTUAL_MODE: ["time-travel=inf-cpu", f"time-travel-start={self.settings.start_ns}"],
            # The kernel reads the host's clock.
            WALL_CLOCK_MODE: [],
        }
        programs = "PROGRAMS" if trial.kit.programs else ""
        what = [START, "KERNEL", "LAB", "CODE", trial.kit.init, programs, "RUN"]
        what += [self.settings.memory, str(trial.seed)]
        return [*NAMESPACES, "sh", *what, *clock[trial.time_mode], *trial.parameters]

    def command(self, kernel: Path, run: Path, trial: Work) -> list[str]:
        """The words of `boot` with the folders that there are."""
        folders = {"KERNEL": kernel, "LAB": lab_root(self.root, trial.kit.lab), "CODE": self.root / GUEST, "RUN": run}
        places = {START: self.root / START, "PROGRAMS": Programs(self.root, trial.kit.tests_of).folder, **folders}
        return [str(places.get(word, word)) for word in self.boot(trial)]

    def run(self, kernel: Path, run: Path, trial: Work) -> None:
        """Run one guest to its end on the CPUs that the caller is bound to; GuestFailed when it does not get there.

        The guest's processes live in a PID namespace that ends with its first process; none outlives the call.
        """
        with open(run / CONSOLE, "wb") as stream:
            process = subprocess.Popen(
                self.command(kernel, run.resolve(), trial),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                start_new_session=True,
                preexec_fn=dying_with_caller(),
            )
            try:
                watch(process.pid, self.settings.watchdog, trial.virtual_s)
            except GivenUp as given_up:
                raise GuestFailed(f"{given_up}{last_lines(run)}") from None
            finally:
                if process.poll() != 0:
                    # Not the leader alone: what it started may not have heard of its end yet.
                    end_family(process.pid)
                status = process.wait()
        # One killed while it powers off has said its last word, but its console, which is a raw file, may not be whole.
        if status != 0 or not (run / "logs" / "guest.json").exists():
            raise GuestFailed(f"{panic(run) or f'the guest {describe_status(status)}'}{last_lines(run)}")
        if _MUTILATED.search(console(run)):
            raise GuestFailed(f"a process of the guest was killed on the host{last_lines(run)}")

    def close(self) -> None:
        """Nothing outlives a trial."""


GUESTS = Uml
