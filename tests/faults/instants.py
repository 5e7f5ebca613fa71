# SPDX-License-Identifier: Apache-2.0
"""instants.py NUMBER FOLDER ARGUMENT...: a request to end at each of so many instants of one run of a command.

The command begins as `bin/pathwarp` begins it, with the signals blocked. An instant is a call or a return of a
function, in Python or in C, of all that the interpreter makes from the first line on; they are counted once, and in a
second run the process forks at instants that are spread evenly. The child gets SIGINT or SIGTERM there, in turn, and
goes on alone, without the counting; what it prints goes to FOLDER/N.out and FOLDER/N.err. Prints, as JSON, how many
instants there are, and for each of the chosen ones the place and the child's exit status (negative: its signal).
"""

import json
import os
import runpy
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

ENDINGS = (signal.SIGINT, signal.SIGTERM)
PRINTED = {1: "out", 2: "err"}
SIDE_BY_SIDE = len(os.sched_getaffinity(0))


class Instants:
    """Counts instants, and calls `act` with the place in front of each of the `chosen` numbers."""

    def __init__(self, chosen: list[int], act: Callable[[int, str], None]) -> None:
        self.count = 0
        self.chosen = iter([*chosen, None])
        self.next = next(self.chosen)
        self.act = act

    def __call__(self, frame: FrameType, event: str, function: object) -> None:
        self.count += 1
        if self.count == self.next:
            self.next = next(self.chosen)
            self.act(self.count, f"{frame.f_code.co_filename}:{frame.f_lineno} {event}")


class Disturbed:
    """The children, each of which was disturbed at an instant of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: dict[int, int] = {}
        self.places: list[str] = []
        self.status: dict[int, int] = {}

    def fork(self, count: int, place: str) -> None:
        while len(self.running) >= SIDE_BY_SIDE:
            self.reap()
        number = len(self.places)
        self.places.append(place)
        # What it has printed already is what its parent has now, and not when the child comes to look at it.
        for kind in PRINTED.values():
            shutil.copy(self.folder / f"undisturbed.{kind}", self.folder / f"{number}.{kind}")
        child = os.fork()
        if child:
            self.running[child] = number
            return
        sys.setprofile(None)
        for descriptor, kind in PRINTED.items():
            os.dup2(os.open(self.folder / f"{number}.{kind}", os.O_WRONLY | os.O_APPEND), descriptor)
        own_notes()
        os.kill(os.getpid(), ENDINGS[number % 2])

    def reap(self) -> None:
        child, status = os.wait()
        self.status[self.running.pop(child)] = os.waitstatus_to_exitcode(status)


def own_notes() -> None:
    """Give a fork a pipe of its own to note requests in, in the place of its parent's."""
    # There is no such module yet, or half of it.
    notes = getattr(sys.modules.get("pathwarp.base.interrupt"), "_notes", None)
    for own, ours in zip(os.pipe(), notes.ends if notes else (), strict=False):
        os.dup2(own, ours)
        os.set_blocking(ours, False)


def run(instants: Instants, arguments: list[str]) -> None:
    """Run the command in a child, with the instants counted from its first line to its exit."""
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
    sys.argv = ["pathwarp", *arguments]
    sys.setprofile(instants)
    try:
        runpy.run_module("pathwarp", run_name="__main__", alter_sys=True)
    finally:
        sys.setprofile(None)


def counted(arguments: list[str]) -> int:
    """How many instants the command has."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        instants = Instants([], lambda count, place: None)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        try:
            run(instants, arguments)
        finally:
            os.write(writing, str(instants.count).encode())
            os._exit(0)
    os.waitpid(child, 0)
    return int(os.read(reading, 64))


def main(number: int, folder: Path, arguments: list[str]) -> None:
    total = counted(arguments)
    chosen = sorted({(2 * place + 1) * total // (2 * number) for place in range(number)})
    disturbed = Disturbed(folder)
    me, told = os.getpid(), os.dup(1)
    os.dup2(os.open(folder / "undisturbed.out", os.O_WRONLY | os.O_CREAT), 1)
    os.dup2(os.open(folder / "undisturbed.err", os.O_WRONLY | os.O_CREAT), 2)
    status = 0
    try:
        run(Instants(chosen, disturbed.fork), arguments)
    except SystemExit as done:
        status = done.code
        if os.getpid() != me:
            raise
    while disturbed.running:
        disturbed.reap()
    report = {
        "total": total,
        "status": status,
        "instants": [[place, disturbed.status[number]] for number, place in enumerate(disturbed.places)],
    }
    os.write(told, json.dumps(report).encode())


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
