# SPDX-License-Identifier: Apache-2.0
"""User Mode Linux in virtual time: the guest is a process of the user, no root and no KVM needed."""

import ctypes
import signal
import subprocess
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import yaml

_PR_SET_PDEATHSIG = 1
_CONSOLE_LINES = 12
_LIBC = ctypes.CDLL(None)


class GuestFailed(Exception):
    """A guest that did not get to its end, with the reason and the console's last lines."""


def die_with_parent() -> None:
    """Have the kernel kill the calling process when its parent ends, however that happens (prctl(2))."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


@dataclass(frozen=True)
class Settings:
    """`vms/uml.yaml`."""

    memory: str
    start_ns: int
    timeout_s: float
    timeout_per_virtual_s: float

    @classmethod
    def read(cls, file: Path) -> "Settings":
        data = yaml.safe_load(file.read_text())
        start: datetime = data["clock-start"]
        return cls(
            data["memory"], int(start.timestamp()) * 1_000_000_000, data["timeout-s"], data["timeout-per-virtual-s"]
        )


@dataclass(frozen=True)
class Uml:
    """Guests of one project folder."""

    root: Path

    def command(self, kernel: Path, run: Path, seed: int, time_mode: str, settings: Settings) -> list[str]:
        """The guest's command line; `kernel` is a folder with the program `linux`."""
        clock = {
            "inf-cpu": ["time-travel=inf-cpu", f"time-travel-start={settings.start_ns}"],
            # The kernel reads the host's clock.
            "wall-clock": [],
        }
        namespaces = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--net", "--fork", "--kill-child"]
        script = str(self.root / "vms" / "uml-start.sh")
        lab, code = self.root / "build" / "lab" / "root", self.root / "pathwarp" / "guest"
        what = [str(kernel), str(lab), str(code), str(run), settings.memory, str(seed)]
        return [*namespaces, "sh", script, *what, *clock[time_mode]]

    def run(self, kernel: Path, run: Path, seed: int, virtual_s: float, time_mode: str) -> None:
        """Run one guest to its end on the CPUs that the caller is bound to; GuestFailed when it is not done in time.

        The guest's processes live in a PID namespace that ends with its first process, so that none outlives the call.
        """
        settings = Settings.read(self.root / "vms" / "uml.yaml")
        timeout_s = settings.timeout_s + settings.timeout_per_virtual_s * virtual_s
        with open(run / "logs" / "console.txt", "wb") as console:
            process = subprocess.Popen(
                self.command(kernel, run.resolve(), seed, time_mode, settings),
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
            try:
                status = process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                raise GuestFailed(f"the guest was not done after {timeout_s:.0f} s{last_lines(run)}") from None
            finally:
                if process.poll() is None:
                    process.kill()
                    process.wait()
        if not (run / "logs" / "guest.json").exists():
            raise GuestFailed(f"the guest ended early, status {status}{last_lines(run)}")


def last_lines(run: Path) -> str:
    """The end of the guest's console, indented, for messages."""
    lines = (run / "logs" / "console.txt").read_text(errors="replace").splitlines()[-_CONSOLE_LINES:]
    return "".join(f"\n    | {line}" for line in lines)
