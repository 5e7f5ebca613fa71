# SPDX-License-Identifier: Apache-2.0
"""Which CPUs to run guests on: first those that no other engine on this machine has taken."""

import errno
import os
import socket


class Cpu:
    """A CPU that is taken until `release`, or until the process ends, however that happens."""

    def __init__(self, number: int) -> None:
        """Raises OSError (EADDRINUSE) when somebody else has it."""
        self.number = number
        # A name that lives and dies with the socket, and that all users share (unix(7), abstract).
        self._claim = socket.socket(socket.AF_UNIX)
        try:
            self._claim.bind(f"\0pathwarp-cpu-{number}")
        except OSError:
            self._claim.close()
            raise

    def release(self) -> None:
        self._claim.close()


def choose(number: int) -> tuple[list[int], list[Cpu]]:
    """So many of the CPUs that this process may use, and the claims on those that were free.

    Where too few are free, guests share CPUs.
    """
    usable = sorted(os.sched_getaffinity(0))
    claims: list[Cpu] = []
    for cpu in usable:
        if len(claims) == number:
            break
        try:
            claims.append(Cpu(cpu))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
    chosen = [claim.number for claim in claims]
    rest = [cpu for cpu in usable if cpu not in chosen] or usable
    return [*chosen, *(rest[place % len(rest)] for place in range(number - len(chosen)))], claims
