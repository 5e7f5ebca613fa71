# SPDX-License-Identifier: Apache-2.0
"""Programs of the host that are waited for, though not against the user's will: a request to end ends them first."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from pathwarp.base import interrupt

Stream = int | IO[bytes] | IO[str]


def run(
    command: Sequence[str],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    given: bytes = b"",
    output: Stream | None = None,
    errors: Stream | None = None,
    limit_s: float | None = None,
    inherited: Sequence[int] = (),
    first: Callable[[], None] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run a program to its end. `given` is its standard input; `first` is called in it before it begins.

    What it prints is in the result, where `output` and `errors` give it no other place. It has a session of its own, so
    that Ctrl-C is for this process to act on. Raises subprocess.TimeoutExpired after `limit_s`, KeyboardInterrupt for a
    request to end; the program and what it has called, as far as that stayed in the session, are gone then.
    """
    # Files in memory and not pipes: nothing but the program's end must be waited for.
    with _memory("input") as standard_input, _memory("output") as printed, _memory("errors") as complained:
        standard_input.write(given)
        standard_input.seek(0)
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=standard_input,
            stdout=printed if output is None else output,
            stderr=complained if errors is None else errors,
            pass_fds=inherited,
            start_new_session=True,
            preexec_fn=first,
        )
        try:
            wait(process, limit_s)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        return subprocess.CompletedProcess(command, process.returncode, _content(printed), _content(complained))


def wait(process: "subprocess.Popen[bytes]", limit_s: float | None = None) -> int:
    """Wait for the end of a child; its exit status. Raises as `run` does, and leaves the child alone then."""
    descriptor = os.pidfd_open(process.pid)
    try:
        until = None if limit_s is None else time.monotonic() + limit_s
        while not interrupt.wait([descriptor], None if until is None else max(0.0, until - time.monotonic())):
            if until is not None and time.monotonic() >= until:
                raise subprocess.TimeoutExpired(process.args, limit_s or 0.0)
    finally:
        os.close(descriptor)
    return process.wait()


def lock(stream: IO[str]) -> None:
    """Lock an open file (flock(2)), as long as it is open; KeyboardInterrupt for a request to end.

    By a program, which can be left while it waits; the lock is the open file's, whoever takes it.
    """
    done = run(["flock", "--exclusive", str(stream.fileno())], inherited=(stream.fileno(),))
    if done.returncode:
        raise OSError(f"flock: {done.stderr.decode(errors='replace').strip()}")


def _memory(name: str) -> IO[bytes]:
    return os.fdopen(os.memfd_create(name), "w+b")


def _content(stream: IO[bytes]) -> bytes:
    stream.seek(0)
    return stream.read()
