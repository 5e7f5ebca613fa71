# SPDX-License-Identifier: Apache-2.0
"""Kills at random instants: nothing is lost, nothing is half sealed, nobody stays, and the next run goes on."""

import os
import random
import shutil
import signal
import subprocess

from project_folder import Project, processes_below
from undisturbed import RUN, assert_no_traceback, assert_nobody_left, assert_nothing_half_made, hashes, table_of

from pathwarp.base.interrupt import ENDINGS

# What is hit with what: the engine, its whole process group (Ctrl-C), one of its workers, one of the guests' processes.
BLOWS = (
    ("engine", signal.SIGKILL),
    ("engine", signal.SIGTERM),
    ("engine", signal.SIGINT),
    ("group", signal.SIGINT),
    ("group", signal.SIGKILL),
    ("worker", signal.SIGKILL),
    ("guest", signal.SIGKILL),
)


def victims(project: Project, process: subprocess.Popen, target: str) -> list[int]:
    """The processes of a run that are such a target, at this instant."""
    if target == "engine":
        return [process.pid]
    lines = processes_below(project.root)
    engines = {number for number, line in lines.items() if " -m pathwarp " in line} - {process.pid}
    return sorted(engines if target == "worker" else lines.keys() - engines - {process.pid})


def strike(project: Project, process: subprocess.Popen, target: str, number: int, chance: random.Random) -> bool:
    """Send the signal; whether somebody was there to take it."""
    if target == "group":
        os.killpg(process.pid, number)
        return True
    present = victims(project, process, target)
    if not present:
        return False
    try:
        os.kill(chance.choice(present), number)
    except ProcessLookupError:
        return False
    return True


def disturbed_run(project: Project, seconds: float, chance: random.Random, blow: tuple[str, int]) -> bool:
    """Start a run and strike at a random instant; whether that met a run under way. What it left must be in order."""
    target, number = blow
    left_by_others = set(project.unsealed())
    process = project.start(*RUN)
    try:
        output, errors = process.communicate(timeout=chance.uniform(0, seconds))
        met = False
    except subprocess.TimeoutExpired:
        met = strike(project, process, target, number, chance)
        output, errors = process.communicate()
    assert_no_traceback(output, errors)
    if met and target in ("engine", "group") and process.returncode != 0:
        assert process.returncode == (130 if number in ENDINGS else -number), output + errors
    elif met:
        assert process.returncode in (0, 1), output + errors
    else:
        assert process.returncode == 0, output + errors
    assert_nobody_left(project.root)
    if process.returncode >= 0:
        # One that is interrupted at once has not swept yet what a run before it left that was killed.
        assert set(project.unsealed()) <= left_by_others
    return met


def test_kills_at_random_instants(pytestconfig, seed, project, undisturbed):
    kills = pytestconfig.getoption("--kills")
    chance = random.Random(seed)
    met = whole = 0
    while met < kills:
        met += disturbed_run(project, undisturbed.seconds, chance, BLOWS[met % len(BLOWS)])
        assert_nothing_half_made(project, undisturbed.trials)
        print(f"kill {met} of {kills}", flush=True)
        if hashes(project) == undisturbed.trials:
            finish(project, undisturbed)
            shutil.rmtree(project.root / "results")
            whole += 1
    finish(project, undisturbed)
    print(f"{met} kills, {whole} times all trials were sealed in the end")


def finish(project: Project, undisturbed) -> None:
    """The next run does what is left, and its table is that of a run that nothing disturbed."""
    status, output, errors = project.call(*RUN)
    assert status == 0, output + errors
    assert table_of(output) == undisturbed.table
    assert hashes(project) == undisturbed.trials
    assert project.unsealed() == []
    assert_nobody_left(project.root)
    assert_no_traceback(output, errors)
