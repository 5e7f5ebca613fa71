# SPDX-License-Identifier: Apache-2.0
"""What a run of one of the kernel's own tests says of its cases: the Test Anything Protocol, as kselftest speaks it."""

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from pathwarp.base.complaints import Complaints, Exit
from pathwarp.plan.selftest import Selftest
from pathwarp.results.sealed import is_whole, read_manifest

# The kernel's numbers for how a test ended (tools/testing/selftests/kselftest.h).
_PASSED, _SKIPPED, _TIMED_OUT = 0, 4, 124
_LINE = re.compile(r"(?P<at_s>\d+\.\d{9}) (?P<text>.*)")
_TAP = "TAP version"
_TIME = re.compile(r"\s*time=(?P<ms>\d+)ms\s*$")


class State(StrEnum):
    """How a case ended."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Case:
    """A case of a test, numbered from 1: what it took in ms by the guest's clock where the test says so, and a note.

    `known`: the kernel's developers have marked it as one that fails now and then. `told`: the test itself tells it;
    otherwise it stands for a test that tells no cases, or for its end.
    """

    number: int
    name: str
    state: State
    took_ms: int | None = None
    note: str = ""
    known: bool = False
    told: bool = True


@dataclass(frozen=True)
class Line:
    """A line of a test's output, and when it came: in s of the guest's clock since the test began."""

    at_s: float
    text: str


@dataclass(frozen=True)
class Run:
    """A sealed run of a test: when it began (ns since the epoch), its cases, what it took in s by the guest's clock and
    by the host's, and what it said.
    """

    test: str
    variant: str
    seed: int
    begin_ns: int
    cases: tuple[Case, ...]
    took_s: float
    wall_s: float
    output: tuple[Line, ...]

    @property
    def failures(self) -> list[int]:
        """The numbers of the cases that failed."""
        return [case.number for case in self.cases if case.state is State.FAILED]

    def case(self, number: int) -> Case:
        """The case of this number; Complaints (something failed) when the test didn't tell it."""
        told = [case for case in self.cases if case.told]
        if not 1 <= number <= len(told):
            what = f"{self.test} seed {self.seed} didn't get to case {number}"
            valid = f"1 to {len(told)}" if told else ""
            raise Complaints.one("case", what, valid, self.cases[-1].note, Exit.FAILED)
        return told[number - 1]

    def window(self, number: int) -> tuple[float, float] | None:
        """When a case began and ended, in s of the guest's clock since the test began; None where no case says.

        A test says what each case took, in whole ms, and all at its end: the window is so many ms longer as cases
        follow. Another case's last ms may be in it.
        """
        end_s = next((line.at_s for line in self.output if line.text.startswith(_TAP)), None)
        times = [case.took_ms for case in self.cases]
        if end_s is None or not 1 <= number <= len(times) or None in times[number - 1 :]:
            return None
        own, later = times[number - 1] or 0, [time or 0 for time in times[number:]]
        until_s = end_s - sum(later) / 1000
        return max(0.0, until_s - (own + len(later) + 1) / 1000), until_s


def read_sealed(root: Path, run: Selftest) -> Run | None:
    """What is sealed of a run below the project's folder, if it is; OSError and ValueError as of `read_run`."""
    folder = root / run.folder
    if not is_whole(folder):
        return None
    wall_s = float(read_manifest(folder)["wall_s"])
    return read_run(folder, run.program.name, run.variant.name, run.seed, wall_s)


def read_run(folder: Path, test: str, variant: str, seed: int, wall_s: float) -> Run:
    """Read a run folder; OSError and ValueError when its files can't be read."""
    report = json.loads((folder / "logs" / "guest.json").read_text())
    lines = (folder / "logs" / "output.txt").read_text(errors="replace").split("\n")
    matches = [match for line in lines if (match := _LINE.fullmatch(line))]
    output = tuple(Line(float(match["at_s"]), match["text"]) for match in matches)
    cases = read_cases(test, tuple(line.text for line in output), int(report["exit"]))
    return Run(test, variant, seed, int(report["begin_ns"]), cases, float(report["took_s"]), wall_s, output)


def read_cases(test: str, output: tuple[str, ...], status: int) -> tuple[Case, ...]:
    """The cases of a test that printed this and ended with this status.

    One that tells no cases is one itself. An end that no case explains is a case more: a script that breaks off has
    told what went well until then.
    """
    from tap.parser import Parser

    begin = next((i for i, line in enumerate(output) if line.startswith(_TAP)), len(output))
    cases = list[Case]()
    for line in Parser().parse_text("\n".join(output[begin:])):
        if line.category == "test":
            cases.append(_case(test, line, len(cases) + 1))
    failed = any(case.state is State.FAILED for case in cases)
    if not cases or (status != _PASSED and not failed):
        last = next((line.strip() for line in reversed(output) if line.strip()), "")
        state = {_PASSED: State.PASSED, _SKIPPED: State.SKIPPED}.get(status, State.FAILED)
        note = "took too long" if status == _TIMED_OUT else "" if state is State.PASSED else last
        cases.append(Case(len(cases) + 1, f"{test} to its end" if cases else test, state, note=note, told=False))
    return tuple(cases)


def _case(test: str, line: Any, number: int) -> Case:
    text = line.directive.text.strip()
    time = _TIME.search(text)
    note = _TIME.sub("", text).removeprefix("SKIP").strip()
    known = note.startswith("IGNORE")
    state = State.SKIPPED if line.skip else State.PASSED if line.ok and not known else State.FAILED
    name = line.description.removeprefix("- ").strip().removeprefix(f"{test}: ")
    return Case(number, name, state, int(time["ms"]) if time else None, note, known)
