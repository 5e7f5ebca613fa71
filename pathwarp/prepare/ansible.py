# SPDX-License-Identifier: Apache-2.0
"""Run Ansible: its output goes to a log, the tasks that take their time and what failed to the user."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from pathwarp.base import interrupt, program
from pathwarp.base.complaints import Complaints, Exit
from pathwarp.prepare import guard

# A task that takes longer than this is worth a line.
PATIENCE_S = 1.0
LAST_LINES = 15
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

    All that it started ends before it passes an interrupt on, and when this process is killed.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    watcher = Watcher()
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-I", guard.__file__, str(os.getpid()), *command],
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
            process.terminate()
            process.wait()
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
