# SPDX-License-Identifier: Apache-2.0
"""D-ITG's receiver log as text, by the lab root's ITGDec outside of the guest, where its calls cost next to nothing."""

import subprocess
from pathlib import Path

from pathwarp.base import program
from pathwarp.prepare.lab import lab_root
from pathwarp.run.guests.guest import GuestFailed
from pathwarp.run.guests.processes import dying_with_caller
from pathwarp.run.guests.uml import NAMESPACES


def decode_log(root: Path, run: Path) -> None:
    """Write `ditg-receiver.txt` of a run folder; GuestFailed when ITGDec doesn't."""
    script = str(root / "vms" / "decode.sh")
    done = program.run(
        [*NAMESPACES, "sh", script, str(lab_root(root)), str(run.resolve())],
        # A character for each packet, to show that it is alive; what is wrong goes there too.
        output=subprocess.DEVNULL,
        errors=subprocess.DEVNULL,
        first=dying_with_caller(),
    )
    if done.returncode:
        raise GuestFailed(f"ITGDec can't read the receiver's log, status {done.returncode}")
