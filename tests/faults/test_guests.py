# SPDX-License-Identifier: Apache-2.0
"""Guests that don't get to their end: their own trial fails and says why, the others go on."""

import json
import os
import signal

import pytest
from project_folder import left_over, processes_below
from undisturbed import assert_no_traceback, assert_nothing_half_made

RUN = ("run", "--scenario", "silent", "--traffic", "single", "--variant", "tlp-std", "--runs", "2", "--jobs", "2")
CALL = "        perform(plan, report)\n"
GARBAGE = "json.dumps = lambda *data, **how: '{'; raise KeyError('x')"
SPIN = "subprocess.Popen([sys.executable, '-c', 'while True: pass']).wait()"
POLL = "os.environ['X'] = str([os.getpid() for _ in iter(int, 1)])"
# In large pieces: in small ones a guest can end up with just enough to read the same pages again and again.
EAT = "[bytearray(b'x' * 2**23) for _ in range(1000)]"


def sabotage(project, line: str) -> None:
    """Have the guest of seed 1 do something else than its trial."""
    code = f"        if plan['seed'] == 1:\n            import pathlib, subprocess, time\n            {line}\n"
    project.replace("pathwarp/guest/trial.py", CALL, code + CALL)


def limit(project, key: str, old: str, new: str) -> None:
    project.replace("vms/uml.yaml", f"{key}: {old}", f"{key}: {new}")


@pytest.mark.parametrize(
    ("line", "limits", "reason"),
    [
        (SPIN, ("stalled", "30 s", "2 s"), "the guest hangs: 2 s of CPU time without a system call"),
        ("while True: pass", ("stalled", "30 s", "2 s"), "the guest hangs: 2 s of CPU time without a system call"),
        (POLL, ("wall", "5 min", "5 s"), "the guest was not done after 5 s of the host's clock"),
        ("signal.pause()", (), "Overdue: not done after 308 s of the guest's clock"),
        ("time.sleep(1e9)", (), "Overdue: not done after 308 s of the guest's clock"),
        ("subprocess.Popen(['sleep', 'infinity']).wait()", (), "Overdue: not done after 308 s of the guest's clock"),
        (EAT, (), "the guest's kernel panicked: "),
        ("os._exit(3)", (), "the guest's kernel panicked: Attempted to kill init! exitcode=0x00000300"),
        ("os.kill(os.getpid(), 9); raise KeyError('x')", (), "KeyError: 'x'"),
        (GARBAGE, (), "what the guest reports is not JSON: "),
    ],
)
def test_a_guest_that_goes_wrong_fails_its_own_trial(project, line, limits, reason):
    sabotage(project, line)
    if limits:
        limit(project, *limits)
    if limits[:1] == ("wall",):
        limit(project, "wall-per-virtual-second", "10 s", "0 s")
    status, output, errors = project.call(*RUN)
    assert status == 1, output + errors
    assert f"seed 1: FAILED: {reason}" in output
    assert "    | " in output, "the console's last lines"
    assert "see results/.failed/silent/tlp-std/single/seed-001" in output
    assert_no_traceback(errors)
    assert [json.loads((folder / "manifest.json").read_text())["seed"] for folder in project.sealed()] == [2]
    assert project.unsealed() == []
    assert left_over(project.root) == {}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("flow.receiver.kill(); flow.receiver.wait()", "RuntimeError: ITGRecv ended before the flow did, status -9"),
        (
            "network.routers['lte'].shell.kill(); network.routers['lte'].shell.wait()",
            "RuntimeError: the process that holds lte",
        ),
        ("os.system('kill -9 $(pidof tcpdump)')", "RuntimeError: tcpdump of server-wlan ended early"),
    ],
)
def test_a_program_that_dies_in_the_guest_voids_the_trial(project, line, reason):
    finish = "    flow.finish(_DRAIN_S)\n"
    project.replace("pathwarp/guest/trial.py", finish, f"    {line}\n{finish}")
    status, output, errors = project.call(*RUN, "--runs", "1")
    assert status == 1, output + errors
    assert f"FAILED: {reason}" in output
    assert project.sealed() == []


def test_a_guest_that_is_killed_says_so(project):
    sabotage(project, SPIN)
    process = project.start(*RUN)
    assert process.stdout.readline().startswith("[1/2] silent tlp-std single seed 2: ")
    kill(min(guests(project)))
    output, errors = process.communicate()
    assert process.returncode == 1
    assert "seed 1: FAILED: the guest was killed by SIGKILL" in output
    assert_no_traceback(output, errors)
    assert left_over(project.root) == {}


def test_a_retry_is_asked_for_and_told(project):
    sabotage(project, "raise RuntimeError('bad luck')")
    status, output, errors = project.call(*RUN, "--retry", "2")
    assert status == 1
    tried = [line for line in output.splitlines() if "failed, it is tried again: RuntimeError: bad luck" in line]
    assert ["attempt 1 " in tried[0], "attempt 2 " in tried[1], len(tried)] == [True, True, 2]
    assert "seed 1: FAILED: RuntimeError: bad luck" in output
    assert len(project.sealed()) == 1
    assert_no_traceback(output, errors)


def test_what_succeeds_in_the_end_is_the_same_and_says_how_often_it_was_tried(project, undisturbed):
    process = project.start(*RUN, "--runs", "1", "--retry", "1")
    while not (found := guests(project)):
        assert process.poll() is None
    kill(min(found))
    output, errors = process.communicate()
    assert process.returncode == 0, output + errors
    assert "attempt 1 failed, it is tried again: the guest was killed by SIGKILL" in output
    assert ", attempt 2" in output
    (folder,) = project.sealed()
    assert json.loads((folder / "manifest.json").read_text())["attempts"] == 2
    assert_nothing_half_made(project, undisturbed.trials)


def guests(project) -> list[int]:
    """The guests' kernels and what runs in them."""
    return [number for number, line in processes_below(project.root).items() if line.startswith("/mnt/kernel/linux")]


def kill(number: int) -> None:
    os.kill(number, signal.SIGKILL)
