# SPDX-License-Identifier: Apache-2.0
"""File descriptors of other processes."""

import ctypes
import os
import socket

_LIBC = ctypes.CDLL(None, use_errno=True)
_PIDFD_GETFD = 438  # the same on all architectures


def duplicate(pid: int, number: int) -> int:
    """A descriptor of our own for the open file that is `number` in another process (pidfd_getfd(2)); OSError."""
    process = os.pidfd_open(pid)
    try:
        copy = _LIBC.syscall(_PIDFD_GETFD, process, number, 0)
        if copy < 0:
            code = ctypes.get_errno()
            raise OSError(code, f"pidfd_getfd: {os.strerror(code)}")
        return copy
    finally:
        os.close(process)


def duplicate_socket(pid: int, number: int) -> socket.socket:
    """The socket that is `number` in another process; OSError when that is none, and then nothing of it stays open."""
    copy = duplicate(pid, number)
    try:
        return socket.socket(fileno=copy)
    except OSError:
        os.close(copy)
        raise
