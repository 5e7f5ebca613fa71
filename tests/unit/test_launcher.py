# SPDX-License-Identifier: Apache-2.0
"""bin/pathwarp: from anywhere, with whatever arguments; the environment first; requests to end at any instant."""

import os
import shutil
import signal
import subprocess
import time

import pytest
from engine_folder import ROOT, make_engine

from pathwarp.base.complaints import Exit

INSTANTS = 40
BOTH = 1 << (signal.SIGINT - 1) | 1 << (signal.SIGTERM - 1)
ARGUMENTS = """\
import sys

def main(arguments):
    print("\\0".join(arguments), end="")
    return 0
"""


@pytest.fixture
def checkout(tmp_path):
    """A checkout with the project's own data files, in a folder with blanks in its name."""
    folder = make_engine(tmp_path / "my  projects" / "path'warp")
    for name in ("scenarios", "topologies", "traffic", "kernels"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def call(launcher, *arguments, **more):
    return subprocess.run([launcher, *arguments], capture_output=True, text=True, check=False, **more)


def test_it_runs_the_engine_from_anywhere(checkout, tmp_path):
    (tmp_path / "click.py").write_text("raise SystemExit(99)  # not what the engine means by `import click`")
    link = tmp_path / "pathwarp"
    link.symlink_to(checkout / "bin" / "pathwarp")
    for launcher, folder in ((checkout / "bin" / "pathwarp", tmp_path), ("bin/pathwarp", checkout), (link, "/")):
        done = call(launcher, "list", cwd=folder)
        assert done.returncode == Exit.DONE, done.stderr
        assert "path-failure" in done.stdout


@pytest.mark.parametrize("words", [["a  b", "", "$(touch bad)", "*", "--", "ö\n'"], []])
def test_nobody_looks_into_the_arguments(checkout, words):
    (checkout / "pathwarp" / "cli.py").write_text(ARGUMENTS)
    assert call(checkout / "bin" / "pathwarp", *words).stdout == "\0".join(words)


def bootstrap(checkout, script):
    """Put a script in the place of what makes the environment."""
    shutil.rmtree(checkout / "build")
    (checkout / "playbooks" / "bootstrap.sh").write_text(f'#!/bin/sh\ntest "$1" != --check || exit 1\n{script}\n')


@pytest.mark.parametrize("status", [1, 2])
def test_without_an_environment_nothing_is_run(checkout, status):
    bootstrap(checkout, f"exit {status}")
    assert call(checkout / "bin" / "pathwarp", "list").returncode == status


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_making_the_environment_can_be_interrupted(checkout, number):
    bootstrap(checkout, "echo begun\nexec sleep 60")
    process = start(checkout, "list")
    assert process.stdout.readline() == "begun\n"
    os.killpg(process.pid, number)
    _, errors = process.communicate(timeout=10)
    assert process.returncode == Exit.INTERRUPTED
    # The shell says of what SIGTERM ended that it did.
    assert errors.removeprefix("Terminated\n") == "pathwarp: interrupted\n"


def start(checkout, *arguments):
    """Start the launcher as from a terminal, in a process group of its own."""
    return subprocess.Popen(
        ["env", "--default-signal=INT,TERM", checkout / "bin" / "pathwarp", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def held(process):
    """Whether a process has got as far as to hold requests to end, or further."""
    with open(f"/proc/{process.pid}/status") as status:
        masks = dict(line.split(":\t") for line in status if line.startswith(("SigBlk", "SigCgt")))
    return any(int(mask, 16) & BOTH == BOTH for mask in masks.values())


def test_a_request_to_end_is_heard_from_the_first_line_on(checkout):
    begin = time.monotonic()
    whole = call(checkout / "bin" / "pathwarp", "list")
    step_s = (time.monotonic() - begin) / INSTANTS
    ended = 0
    for place in range(INSTANTS):
        process = start(checkout, "list")
        while not held(process):
            pass
        time.sleep(place * step_s)
        process.send_signal((signal.SIGINT, signal.SIGTERM)[place % 2])
        output, errors = process.communicate(timeout=60)
        if process.returncode == Exit.INTERRUPTED:
            ended += 1
            assert errors.strip() == "pathwarp: interrupted"
        else:
            assert (process.returncode, output, errors) == (Exit.DONE, whole.stdout, "")
    assert ended
