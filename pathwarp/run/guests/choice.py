# SPDX-License-Identifier: Apache-2.0
"""What every backend's guests can do, and those of a backend by its name."""

from importlib import import_module
from pathlib import Path
from typing import Protocol

from pathwarp.plan.kit import Work
from pathwarp.run.guests.settings import GuestSettings


class Guests(Protocol):
    """A backend's guests in one project folder; `pathwarp.model.backends` has what else there is to know of it."""

    @property
    def settings(self) -> GuestSettings:
        """How guests are started, and when they are given up."""

    def __init__(self, root: Path) -> None: ...

    @staticmethod
    def ground(root: Path) -> str:
        """What guests run on here that results may depend on."""

    def boot(self, trial: Work) -> list[str]:
        """The words of the command that boots a trial's guest, with names in place of the host's folders."""

    def run(self, kernel: Path, run: Path, trial: Work) -> None:
        """Fill a run folder with a trial's raw files; GuestFailed when the guest does not get to its end."""

    def close(self) -> None:
        """End what is kept from one trial to the next."""


def guests_of(root: Path, backend: str) -> Guests:
    """The guests that the module `NAME.py` beside this one has as GUESTS; Complaints for wrong settings."""
    module = import_module(f"{__name__.rpartition('.')[0]}.{backend}")
    guests: type[Guests] = module.GUESTS
    return guests(root)
