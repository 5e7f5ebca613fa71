# SPDX-License-Identifier: Apache-2.0
"""Mutated inputs: each is taken, or refused in words; nothing else happens, and soon."""

import io
import os
import random
import re
import shutil
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import pytest
from mutate import VALUES, mutate_text, replace_file, restore
from project_folder import ROOT

from pathwarp.base.complaints import Exit
from pathwarp.cli import main
from pathwarp.model.backends.registry import BACKENDS
from pathwarp.plan.orders import orders
from pathwarp.prepare import prepare
from pathwarp.prepare.recipe import LAB
from pathwarp.run import queue as runner
from pathwarp.run.guests.uml import UmlSettings

PARTS = ("scenarios", "topologies", "traffic", "kernels", "vms")
# Of CPU time, which a busy machine doesn't make longer; by the clock for an input that has the program wait.
LIMIT_S, LIMIT_WALL_S = 20, 600
OPTIONS = ("scenario", "variant", "traffic", "set", "runs", "seed", "jobs", "retry", "backend")
GOOD = {
    "scenario": "path-failure",
    "variant": "tlp-std,tlp-mp",
    "traffic": "docs",
    "set": "events.0.fail=interface-down",
    "runs": "2",
    "seed": "1",
    "jobs": "1",
    "retry": "1",
    "backend": "uml",
}
# Folder to the commands that read what is in it.
READERS = {
    "scenarios": (("run", "--scenario={name}", "--runs=2"), ("run", "--scenario={name}"), ("list",)),
    "topologies": (
        *(("run", f"--scenario={name}", "--runs=1") for name in ("path-failure", "on-off", "on-off-long-rtt")),
        ("list",),
    ),
    "traffic": (
        ("run", "--scenario=path-failure", "--traffic=all", "--runs=2"),
        ("run", "--scenario=on-off", "--traffic=all", "--runs=1"),
        ("traffic", "show", "{name}"),
        ("traffic", "show", "docs"),
        ("list",),
    ),
    "kernels": (
        ("run", "--scenario=path-failure", "--variant=all", "--runs=1"),
        ("build", "kernels"),
        ("build", "selftests"),
        ("list",),
    ),
    "vms": (("run", "--scenario=path-failure", "--runs=1"), ("build", "lab"), ("build", "selftests")),
}


# How often each exit status came, and what went wrong.
Findings = tuple[Counter[int], list[str]]


class Hang(BaseException):
    """An input that keeps the program busy; none of its handlers takes this for something else."""


@contextmanager
def time_limit() -> Iterator[None]:
    def ring(number: int, frame: object) -> None:
        raise Hang

    timers = {signal.SIGALRM: (signal.ITIMER_REAL, LIMIT_WALL_S), signal.SIGPROF: (signal.ITIMER_PROF, LIMIT_S)}
    previous = {number: signal.signal(number, ring) for number in timers}
    try:
        for timer, seconds in timers.values():
            signal.setitimer(timer, seconds)
        yield
    finally:
        for timer, _ in timers.values():
            signal.setitimer(timer, 0)
        for number, handler in previous.items():
            signal.signal(number, handler)


@pytest.fixture
def inputs(tmp_path, monkeypatch) -> list[Path]:
    """Projects with the real data files, one for each CPU; what would build and start guests stops before it does."""
    folders = [tmp_path / str(cpu) for cpu in os.sched_getaffinity(0)]
    for folder, part in product(folders, PARTS):
        shutil.copytree(ROOT / part, folder / part)

    def ready(root, variants, parts):
        prepare._stale(root, variants, parts)

    def run_trials(root, trials, *options):
        parts = prepare.Parts(trials[0].backend, LAB, BACKENDS[trials[0].backend])
        ready(root, {trial.variant.name: trial.variant for trial in trials}.values(), parts)
        UmlSettings.of(root)
        assert all(orders(trial, "") for trial in trials[:3])
        return 0

    monkeypatch.setattr(runner, "run_trials", run_trials)
    monkeypatch.setattr(prepare, "_prepare", ready)
    return folders


def tree(root: Path) -> dict[str, tuple]:
    """Everything below a folder, with what a change of it would change."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            state = os.lstat(path)
            found[path] = (state.st_mode, state.st_size, state.st_mtime_ns)
    return found


def answer(root: Path, arguments: list[str]) -> tuple[int, str, str]:
    """The command's exit status and output, as on a terminal in UTF-8; a failed assertion when it has no answer."""
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", errors) for errors in ("strict", "backslashreplace")]
    before = tree(root)
    kept = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = streams
    trouble = ""
    status = -1
    try:
        with time_limit():
            status = main(["--root", str(root), *arguments])
    except (Exception, Hang):  # noqa: BLE001, which it is goes into the report
        trouble = traceback.format_exc()
    finally:
        sys.stdout, sys.stderr = kept
    output, errors = (stream.detach().getvalue().decode() if not stream.flush() else "" for stream in streams)
    assert not trouble, f"{arguments}\n{trouble}"
    assert "Traceback" not in output + errors, errors
    nothing_run = status == Exit.FAILED and "no sealed trials of" in errors
    assert status in (Exit.DONE, Exit.BAD_INPUT) or nothing_run, f"{arguments}\n{errors}"
    assert status == Exit.DONE or errors.strip(), arguments
    assert tree(root) == before, arguments
    return status, output, errors


def share_out(work: Callable[[Path, range], Findings], folders: list[Path], mutations: int) -> None:
    """Have a process for each folder do its share of the mutations; fail with all that they found."""
    shares = [range(place, mutations, len(folders)) for place in range(len(folders))]
    with ProcessPoolExecutor(len(folders), get_context("fork")) as pool:
        found = list(pool.map(work, folders, shares))
    answers = sum((answers for answers, _ in found), Counter())
    troubles = [trouble for _, troubles in found for trouble in troubles]
    print(f"{mutations} mutations: {dict(answers)}")
    assert answers.total() + len(troubles) == mutations
    assert_none(troubles, mutations)


def show(number: int, numbers: range) -> None:
    """Say how far it is, which matters when there are many."""
    if number and number % 1000 < numbers.step:
        print(f"mutation {number} of {numbers.stop}", file=sys.__stdout__, flush=True)


def test_mutated_files(pytestconfig, seed, inputs):
    share_out(partial(mutate_files, seed), inputs, pytestconfig.getoption("--mutations") * 4 // 5)


def mutate_files(seed: int, inputs: Path, numbers: range) -> Findings:
    """What came of the mutations of these numbers, each of one file."""
    files = {part: sorted(path for path in (inputs / part).rglob("*") if path.is_file()) for part in PARTS}
    files["traffic"] = [path for path in files["traffic"] if path.suffix == ".yaml" or path.stem in ("01", "02")]
    files["kernels"] = [path for path in files["kernels"] if path.suffix != ".patch"] + files["kernels"][:1]
    answers, troubles = Counter(), []
    for number in numbers:
        show(number, numbers)
        chance = random.Random(f"{seed} file {number}")
        part = chance.choice(("scenarios", "scenarios", "topologies", "traffic", "kernels", "vms"))
        file = chance.choice(files[part])
        content, times = file.read_bytes(), (file.stat().st_atime_ns, file.stat().st_mtime_ns)
        if chance.random() < 0.1:
            replace_file(file, chance)
        else:
            file.write_bytes(mutate_text(content, chance))
        command = [word.format(name=file.stem) for word in chance.choice(READERS[part])]
        try:
            answers[answer(inputs, command)[0]] += 1
        except AssertionError as error:
            troubles.append(f"mutation {number} of {file.relative_to(inputs)}: {error}")
        finally:
            restore(file, content, times)
    return answers, troubles


def test_mutated_options(pytestconfig, seed, inputs):
    share_out(partial(mutate_options, seed), inputs, pytestconfig.getoption("--mutations") // 5)


def mutate_options(seed: int, inputs: Path, numbers: range) -> Findings:
    """What came of the mutations of these numbers, each of some options."""
    answers, troubles = Counter(), []
    for number in numbers:
        show(number, numbers)
        chance = random.Random(f"{seed} option {number}")
        given = {
            **GOOD,
            **{name: mutated_value(GOOD[name], chance) for name in chance.sample(OPTIONS, chance.choice((1, 1, 3)))},
        }
        command = ["run"]
        with pytest.MonkeyPatch.context() as environment:
            for name, value in given.items():
                # As Make hands it on, or as a user of the command line does.
                if chance.random() < 0.5 and "\0" not in value:
                    environment.setenv(f"PATHWARP_{name.upper()}", value)
                else:
                    command.append(f"--{name}={value}")
            try:
                answers[answer(inputs, command)[0]] += 1
            except AssertionError as error:
                troubles.append(f"mutation {number}: {given}: {error}")
    return answers, troubles


def mutated_value(good: str, chance: random.Random) -> str:
    if chance.random() < 0.5:
        places = (
            "duration",
            "events.0.at",
            "events",
            "topology",
            "paper",
            "sysctls.net.x",
            "traffic",
            "a..b",
            "runs",
            "",
        )
        return chance.choice([chance.choice(VALUES), f"{chance.choice(places)}={chance.choice(VALUES)}"])
    # Bytes that are no UTF-8 come in as the command line brings them.
    return mutate_text(good.encode(), chance).decode("utf-8", "surrogateescape")


def assert_none(troubles: list[str], mutations: int) -> None:
    """No trouble; otherwise one of each kind, by the line that raised it."""
    kinds: dict[str, str] = {}
    for trouble in troubles:
        places = re.findall(r'File ".*/(pathwarp/.*", line \d+)', trouble)
        kinds.setdefault(f"{places[-1:]} {trouble.splitlines()[-1][:80]}", trouble[-3000:])
    shown = "\n\n".join(kinds.values())
    assert not troubles, f"{len(troubles)} of {mutations}, of {len(kinds)} kinds:\n{shown}"
