# SPDX-License-Identifier: Apache-2.0
"""Processes that do not outlive the one that started them."""

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


def die_with(parent: int) -> None:
    """Have the kernel kill the calling process when its parent ends, however that happens (prctl(2)).

    `parent` is the process that the caller believes to be its parent: when that is gone already, nobody would tell.
    """
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
