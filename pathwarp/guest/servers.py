# SPDX-License-Identifier: Apache-2.0
"""Sockets on which programs listen: whether there is one, and holding it open beyond its program's wish."""

import contextlib
import os
import re
import socket
from pathlib import Path

import descriptors


def listens(pid: int, port: int) -> bool:
    """Whether somebody in the network namespace of a process listens on a TCP port."""
    net = Path(f"/proc/{pid}/net")
    listening = re.compile(rf":{port:04X} 0+:0000 0A")
    return any(listening.search((net / table).read_text()) for table in ("tcp", "tcp6"))


def kept_open(pid: int, port: int) -> list[socket.socket]:
    """Copies of a process' sockets on a port, as a server has them that goes on listening.

    ITGRecv closes its listening socket after accept, and mainline answers an MP_JOIN only where a socket listens.
    """
    found = []
    for name in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):
            copy = descriptors.duplicate_socket(pid, int(name))
            if copy.getsockname()[1] == port:
                found.append(copy)
            else:
                copy.close()
    return found
