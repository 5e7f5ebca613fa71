# SPDX-License-Identifier: Apache-2.0
"""Run Ansible: its output goes to a log, the tasks that take their time and what failed to the user."""

import json
import os
import re
import select
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import click

from pathwarp.base import interrupt, program
from pathwarp.base.complaints import Complaints, Exit

# A task that takes longer than this is worth a line.
PATIENCE_S = 1.0
LAST_LINES = 15
# How long what is interrupted may take to clear up behind itself.
END_S = 10.0
MOST_LINES = 40

TASK = re.compile(r"TASK \[(?:.+ : )?(?P<name>.+?)\] \**")
FAILURE = re.compile(r"(?:fatal|failed): \[.+?\].*? => (?P<result>\{.*\})")


class Watcher:
    """Follows the output line by line: which task is on, and what failed last."""

    def __init__(self) -> None:
        self.task = ""
        self.announced = True
        self.failure: tuple[str, dict] | None = None

    def read(self, line: str) -> None:
        if match := TASK.match(line):
            self.task, self.announced = match["name"], False
        elif match := FAILURE.match(line):
            try:
                self.failure = (self.task, json.loads(match["result"]))
            except ValueError:
                self.failure = (self.task, {"msg": match["result"]})
        elif line.startswith("...ignoring"):
            self.failure = None

    def announce(self) -> None:
        """Tell the user of the task that is on, once."""
        if not self.announced:
            click.echo(f"  {self.task}", err=True)
            self.announced = True


def run(command: Sequence[str], folder: Path, environment: Mapping[str, str], log: Path) -> None:
    """Run `ansible playbook` in `folder`; Complaints (a build failed) with the task and its message when it fails.

    Interrupted, it ends all that it started before it passes the interrupt on.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    watcher = Watcher()
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert process.stdout
        try:
            for chunk in _chunks(process.stdout.fileno(), watcher):
                stream.write(chunk)
                stream.flush()
            status = program.wait(process)
        except BaseException:
            _end(process)
            raise
    if status:
        raise _explain(watcher.failure, status, command, log)


def _chunks(source: int, watcher: Watcher) -> Iterator[bytes]:
    """The bytes that come from the descriptor `source`, the lines in them shown to the watcher."""
    rest = b""
    while True:
        if not interrupt.wait([source], PATIENCE_S):
            watcher.announce()
            interrupt.wait([source])
        chunk = os.read(source, 65536)
        if not chunk:
            return
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            watcher.read(line.decode(errors="replace"))
        yield chunk


def _explain(failure: tuple[str, dict] | None, status: int, command: Sequence[str], log: Path) -> Complaints:
    log_name = "/".join(log.parts[-3:])
    if failure is None:
        ended = f"ended with exit status {status}" if status > 0 else f"was ended by signal {-status}"
        lines = log.read_text(errors="replace").splitlines()[-LAST_LINES:]
        what = "\n".join([f"Ansible {ended}; its last lines:", *(f"    {line}" for line in lines)])
        return Complaints.one("preparation", what, hint=f"the command was: {shlex.join(command)}", code=Exit.FAILED)
    task, result = failure
    if "cmd" not in result:
        # A playbook's own words (the module `fail`) say all there is; other modules' are for those who read the log.
        hint = "" if result.keys() <= {"changed", "msg"} else f"all of Ansible's output is in {log_name}"
        return Complaints.one("preparation", str(result.get("msg", task)), hint=hint, code=Exit.FAILED)
    said = str(result.get("stderr") or result.get("stdout") or result.get("msg")).strip().splitlines()
    ran = result["cmd"] if isinstance(result["cmd"], str) else shlex.join(map(str, result["cmd"]))
    what = "\n".join([f"failed: {task}", *(f"    {line}" for line in said[-MOST_LINES:])])
    hint = f"the command was: {ran}\n    all of Ansible's output is in {log_name}"
    return Complaints.one("preparation", what, hint=hint, code=Exit.FAILED)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process and all of its descendants, wherever they are, and wait until they are gone."""
    pids = [*_descendants(process.pid), process.pid]
    living = [descriptor for pid in pids if (descriptor := _open(pid)) is not None]
    for number in (signal.SIGTERM, signal.SIGKILL):
        until = time.monotonic() + END_S
        for descriptor in living:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(descriptor, number)
        living = [descriptor for descriptor in living if not _gone(descriptor, until)]
    process.wait()


def _gone(descriptor: int, until: float) -> bool:
    """Whether a process ends before that instant of the monotonic clock, in s; its descriptor is closed then."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    if not poll.poll(max(0.0, until - time.monotonic()) * 1000):
        return False
    os.close(descriptor)
    return True


def _open(pid: int) -> int | None:
    """A descriptor of a process; None when it is gone."""
    with suppress(ProcessLookupError):
        return os.pidfd_open(pid)
    return None


def _descendants(ancestor: int) -> list[int]:
    """The processes that `ancestor` started, and that those started, the nearest ones first."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                # PID (NAME) STATE PARENT ...; the name may hold anything, so look behind its last bracket.
                parent = int((entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found = list(children.get(ancestor, []))
    for pid in found:
        found += children.get(pid, [])
    return found
