# SPDX-License-Identifier: Apache-2.0
"""Boot a kernel whose init is a small C program that runs another one."""

import subprocess
from pathlib import Path

import pytest

from pathwarp.run.guests.uml import NAMESPACES

HERE = Path(__file__).parent
KERNEL = HERE.parents[1] / "build" / "kernels" / "mainline" / "uml" / "linux"


@pytest.fixture
def boot(tmp_path):
    """Compile PROGRAM.c, boot the kernel, run the program with arguments there; return what it printed."""

    def run(program: str, *arguments: str) -> str:
        for name in ("init", program):
            command = [
                "gcc",
                "-O2",
                "-Wall",
                "-static",
                "-pthread",
                "-mavx",
                f"-o{tmp_path / name}",
                f"{HERE / name}.c",
            ]
            subprocess.run(command, check=True)
        # Not as process 1 of the namespace: it is deaf to the signal by which a panicking kernel ends itself.
        command = ["sh", "-c", '"$@"; exit $?', "sh", "sh", str(HERE / "boot.sh"), str(KERNEL), str(tmp_path)]
        guest = subprocess.run(
            [*NAMESPACES, *command, f"/{program}", *arguments],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert "status 0\n" in guest.stdout, guest.stdout + guest.stderr
        return guest.stdout

    return run
