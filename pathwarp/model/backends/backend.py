# SPDX-License-Identifier: Apache-2.0
"""What there is to know of a way to run a guest, apart from how: that is in `pathwarp/run/guests/NAME.py`."""

from collections.abc import Mapping
from dataclasses import dataclass

# The guest's clock jumps over idle time, and code takes none of it (vms/uml-start.sh).
VIRTUAL_MODE = "inf-cpu"
# The guest's clock is the host's.
WALL_CLOCK_MODE = "wall-clock"


@dataclass(frozen=True)
class Pace:
    """How time passes in a guest: the `mode` of the manifest, and a name for tables that hold paces side by side.

    `alone`: what a trial measures suffers from others that run on the machine meanwhile.
    """

    mode: str
    title: str
    alone: bool


@dataclass(frozen=True)
class Backend:
    """A way to run a guest.

    `paces` are by a scenario's key `time`. `alone`: one guest at a time, on all CPUs, otherwise side by side, a CPU
    each; `why_alone` says why, for messages. `settings` is the file that says how guests are started and when they are
    given up, `boot_files` are what they are booted and their logs decoded with (folders with all that is in them), both
    relative to the project's folder. `programs` have to be on the host, whose packages playbooks/host.yml knows;
    `has_box`: guests start from a disk image of the lab root (playbooks/box.yml).
    """

    name: str
    title: str
    paces: Mapping[str, Pace]
    settings: str
    boot_files: tuple[str, ...]
    alone: bool = False
    why_alone: str = ""
    programs: tuple[str, ...] = ()
    has_box: bool = False
