# SPDX-License-Identifier: Apache-2.0
"""A process with all that descends from it, which is what a guest is on the host: what they do, and their end."""

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pathwarp.base.lifetime import die_with

_TICKS_S = os.sysconf("SC_CLK_TCK")
# Fields of /proc/PID/stat, counted from 0 behind the name: parent, session, user and system time in ticks.
_PARENT, _SESSION, _TIMES = 1, 3, slice(11, 13)


@dataclass(frozen=True)
class Activity:
    """What some processes have done: CPU time used in s, and how often one of them waited for something."""

    cpu_s: float
    waits: int


def dying_with_caller() -> Callable[[], None]:
    """What a child has to call, between fork and exec, to end with the calling process.

    A worker is deaf to Ctrl-C; what it starts begins as any program does.
    """
    parent = os.getpid()

    def prepare() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        die_with(parent)

    return prepare


def family(leader: int) -> dict[int, float]:
    """The processes of the session that `leader` began and all that descend from these, zombies left out.

    Process to CPU time used in s. User Mode Linux begins a session of its own.
    """
    table = {number: fields for number in _numbers() if (fields := _stat(number))}
    found = {number for number, fields in table.items() if leader in (number, int(fields[_SESSION]))}
    new = found
    while new:
        new = {number for number, fields in table.items() if int(fields[_PARENT]) in new} - found
        found |= new
    return {number: sum(map(int, table[number][_TIMES])) / _TICKS_S for number in found}


def activity(leader: int) -> Activity:
    """What the family's living processes have done so far."""
    members = family(leader)
    return Activity(sum(members.values()), sum(map(_waits, members)))


def end_family(leader: int, patience_s: float = 10) -> None:
    """Kill the family's processes and wait until they are gone, as long as `patience_s`."""
    until = time.monotonic() + patience_s
    while (members := family(leader)) and time.monotonic() < until:
        for number in members:
            with contextlib.suppress(ProcessLookupError):
                descriptor = os.pidfd_open(number)
                try:
                    signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                    wait_for(descriptor, until - time.monotonic())
                finally:
                    os.close(descriptor)


def wait_for(descriptor: int, timeout_s: float) -> bool:
    """Whether the process of a pidfd has ended, or ends in this time."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(max(0.0, timeout_s) * 1000))


def _numbers() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _stat(number: int) -> list[str]:
    """The fields of /proc/PID/stat behind the name, from the state on; none for a zombie or what is gone."""
    try:
        fields = Path(f"/proc/{number}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
    return [] if fields[0] in "ZX" else fields


def _waits(number: int) -> int:
    try:
        lines = Path(f"/proc/{number}/status").read_text(errors="replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches:")), 0)
