# SPDX-License-Identifier: Apache-2.0
"""The backends there are, by name."""

from pathlib import Path
from typing import ClassVar, Protocol

from pathwarp.plan.trial import Trial
from pathwarp.run.guests.settings import GuestSettings
from pathwarp.run.guests.uml import Uml
from pathwarp.run.guests.vm import Vm


class Backend(Protocol):
    """Guests of one project folder. `alone`: one at a time, on all CPUs; otherwise side by side, a CPU each."""

    alone: ClassVar[bool]

    @property
    def settings(self) -> GuestSettings:
        """How guests are started, and when they are given up."""

    def __init__(self, root: Path) -> None: ...

    @staticmethod
    def ground(root: Path) -> str:
        """What guests run on here that results may depend on."""

    def boot(self, trial: Trial) -> list[str]:
        """The words of the command that boots a trial's guest, with names in place of the host's folders."""

    def run(self, kernel: Path, run: Path, trial: Trial) -> None:
        """Fill a run folder with a trial's raw files; GuestFailed when the guest does not get to its end."""

    def close(self) -> None:
        """End what is kept from one trial to the next."""


BACKENDS: dict[str, type[Backend]] = {"uml": Uml, "vm": Vm}
