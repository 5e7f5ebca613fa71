# SPDX-License-Identifier: Apache-2.0
"""Wait for a guest's end, but not for ever."""

import os
import time

from pathwarp.base import interrupt
from pathwarp.run.guests.processes import activity
from pathwarp.run.guests.settings import Watchdog

# How often a guest that is still at work is looked at. Most trials are over before the first look.
LOOK_S = 2.0


class GivenUp(Exception):
    """A guest that will not get to its end, and why."""


def watch(leader: int, watchdog: Watchdog, virtual_s: float) -> None:
    """Return once the guest's first process `leader`, which began a session, has ended; GivenUp when it should have.

    A guest in virtual time that computes without ever calling its kernel has stopped its own clock. On the host its
    processes then use CPU time and never wait, while a healthy guest's kernel waits for its processes thousands of
    times a second. CPU time and not the host's clock, so that a guest which the host starves is not taken for one.
    """
    begin = time.monotonic()
    limit_s, stalled_s = watchdog.wall_s(virtual_s), watchdog.stalled_ns / 1e9
    descriptor = os.pidfd_open(leader)
    try:
        last = None
        while not interrupt.wait([descriptor], min(LOOK_S, begin + limit_s - time.monotonic())):
            if time.monotonic() - begin >= limit_s:
                raise GivenUp(f"the guest was not done after {limit_s:.0f} s of the host's clock")
            now = activity(leader)
            if last is None or now.waits != last.waits:
                last = now
            elif now.cpu_s - last.cpu_s >= stalled_s:
                raise GivenUp(f"the guest hangs: {stalled_s:.0f} s of CPU time without a system call")
    finally:
        os.close(descriptor)
