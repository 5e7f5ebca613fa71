# SPDX-License-Identifier: Apache-2.0
"""The kernel leaves floating-point registers in the host: no program may see another's, or lose its own."""

import subprocess
from pathlib import Path

from pathwarp.run.guests.uml import NAMESPACES

HERE = Path(__file__).parent
KERNEL = HERE.parents[1] / "build" / "kernels" / "mainline" / "uml" / "linux"
ROUNDS = "100"


def test_no_register_is_lost(tmp_path):
    for name in ("init", "registers"):
        command = ["gcc", "-O2", "-Wall", "-static", "-pthread", "-mavx", f"-o{tmp_path / name}", f"{HERE / name}.c"]
        subprocess.run(command, check=True)
    # Not as process 1 of the namespace: it is deaf to the signal by which a panicking kernel ends itself.
    command = ["sh", "-c", '"$@"; exit $?', "sh", "sh", str(HERE / "boot.sh"), str(KERNEL), str(tmp_path)]
    guest = subprocess.run(
        [*NAMESPACES, *command, "/registers", ROUNDS, "/registers"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "status 0\n" in guest.stdout, guest.stdout + guest.stderr
    assert "\nok, " in guest.stdout
