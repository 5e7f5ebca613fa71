# SPDX-License-Identifier: Apache-2.0
"""Run a command that leaves nobody behind: `python guard.py CALLER COMMAND…`, from the process CALLER.

When CALLER ends, however that happens, or asks for it by SIGTERM, the command and all that descends from it end, in
whatever session they are. The exit status is the command's. It runs by itself and imports nothing of the project.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
# How long what is asked to end may take to clear up behind itself.
END_S = 10.0


def main(caller: int, command: list[str]) -> int:
    """Run the command; its exit status, negative for a signal that ended it."""
    # Whoever loses its parent becomes a child of this process, and is found.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    asked, ask = os.pipe()
    os.set_blocking(ask, False)
    signal.set_wakeup_fd(ask)
    signal.signal(signal.SIGTERM, lambda *_: None)
    watched = os.pidfd_open(caller)
    if os.getppid() != caller:
        raise ProcessLookupError(caller)
    process = subprocess.Popen(command)
    poll = select.poll()
    for descriptor in (watched, asked, ended := os.pidfd_open(process.pid)):
        poll.register(descriptor, select.POLLIN)
    if ended not in [descriptor for descriptor, _ in poll.poll()]:
        left = _end(signal.SIGTERM)
        while left:
            left = _end(signal.SIGKILL)
    return process.wait()


def _end(number: int) -> bool:
    """Send a signal to all descendants and wait for them; whether there are any left, such as new ones."""
    opened = [descriptor for one in descendants(os.getpid()) if (descriptor := _open(one)) is not None]
    for descriptor in opened:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(descriptor, number)
    until = time.monotonic() + END_S
    for descriptor in opened:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        poll.poll(max(0.0, until - time.monotonic()) * 1000)
        os.close(descriptor)
    return bool(descendants(os.getpid()))


def descendants(ancestor: int) -> list[int]:
    """The living processes that `ancestor` started, and that those started, the nearest ones first."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            # PID (NAME) STATE PARENT ...; the name may hold anything, so look behind its last bracket.
            state, parent = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
        except (OSError, ValueError):
            continue
        if state != "Z":
            children.setdefault(int(parent), []).append(int(entry.name))
    found = list(children.get(ancestor, []))
    for one in found:
        found += children.get(one, [])
    return found


def _open(number: int) -> int | None:
    """A descriptor of a process; None when it is gone."""
    with suppress(ProcessLookupError):
        return os.pidfd_open(number)
    return None


if __name__ == "__main__":
    status = main(int(sys.argv[1]), sys.argv[2:])
    if status < 0:
        # As the command ended.
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)
