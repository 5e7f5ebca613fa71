# SPDX-License-Identifier: Apache-2.0
"""The locks of a project's build folder; one goes with the process that holds it, however that ends."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from pathwarp.base import program
from pathwarp.base.complaints import Complaints, Exit


@contextmanager
def locked(path: Path, whose: str) -> Iterator[None]:
    """Hold a lock file for oneself; `whose` is said while another one holds it. Complaints where it can't be made."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        stream = path.open("w")
    except OSError as error:
        where = path.parent.name
        raise Complaints.one(where, f"cannot be written: {error.strerror}", code=Exit.FAILED) from None
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            click.echo(f"pathwarp: waiting for {whose} to end", err=True)
            program.lock(stream)
        yield


@contextmanager
def building(root: Path) -> Iterator[None]:
    """Hold what is built of a project for oneself; Complaints as of `locked`."""
    with locked(root / "build" / "lock", "another preparation"):
        yield
