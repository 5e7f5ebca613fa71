# SPDX-License-Identifier: Apache-2.0
"""Disks that are full or can't be written: said clearly, and what is sealed stays as it is."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from namespace import POWERLESS, mounting
from project_folder import ROOT
from undisturbed import RUN, assert_no_traceback, assert_nobody_left, hashes

ONE = (*RUN, "--variant", "tlp-std", "--runs", "1")
SHOWN = ("--scenario", "silent", "--traffic", "single", "--variant", "tlp-std")
TWO = (*RUN, "--variant", "tlp-std", "--jobs", "1")


def of_two(undisturbed) -> dict[str, str]:
    """The trials of TWO."""
    return {name: digest for name, digest in undisturbed.trials.items() if "/tlp-std/" in name}


def on_small_disk(project, size: str, *command: str) -> list[dict]:
    engine = [sys.executable, "-m", "pathwarp", "--root", str(project.root), *command]
    inside = [sys.executable, str(Path(__file__).with_name("full_disk.py")), str(project.root), size, *engine]
    done = subprocess.run(
        [*mounting(":"), *inside],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# A trial of these takes about 120 kB.
@pytest.mark.parametrize("size", ["8k", "64k", "120k", "200k"])
def test_a_disk_that_fills_up_while_trials_run(project, undisturbed, size):
    project.replace("vms/uml.yaml", "room: 16 MB", "room: 0 B")
    full, after = on_small_disk(project, size, *TWO)
    assert full["status"] in (1, 2), full
    words = full["output"] + full["errors"]
    assert "No space left on device" in words or "the disk has" in words, words
    assert "free some space" in words
    assert_no_traceback(words)
    for run in (full, after):
        assert (run["half"], run["problems"], run["unsealed"]) == ([], [], [])
        assert {name: undisturbed.trials[name] for name in run["sealed"]} == run["sealed"]
    assert after["status"] == 0, after
    assert after["sealed"] == of_two(undisturbed)
    assert_nobody_left(project.root)


@pytest.mark.parametrize("size", ["1M", "15690k"])
def test_a_disk_without_the_room_that_trials_need(project, undisturbed, size):
    full, after = on_small_disk(project, size, *TWO)
    assert "MB left, 16 MB are needed; free some space" in (full["output"] + full["errors"]).replace("\n    ", "; ")
    assert full["status"] == (2 if size == "1M" else 1)
    assert set(full["sealed"]) < set(of_two(undisturbed))
    assert after["sealed"] == of_two(undisturbed)


@pytest.fixture
def sealed(project):
    """A project with a sealed trial."""
    status, output, errors = project.call(*ONE)
    assert status == 0, output + errors
    return project


def check_untouched(project, before: dict[str, str], *under: str) -> None:
    """What is sealed can still be shown and checked, and is as it was."""
    assert before
    assert project.call("table", *SHOWN, under=under)[0] == 0
    assert project.call("check-results", under=under)[0] == 0
    assert hashes(project) == before
    assert_nobody_left(project.root)


def test_results_on_a_read_only_disk(sealed):
    before = hashes(sealed)
    script = 'mount --bind "$1" "$1"\nmount -o remount,bind,ro "$1"'
    under = mounting(script, str(sealed.root / "results"))
    status, output, errors = sealed.call(*RUN, under=under)
    assert (status, output) == (2, "")
    assert "can't be written: Read-only file system\n    mount it writable" in errors
    status, output, errors = sealed.call("figures", *SHOWN, under=under)
    assert status == 1
    assert "Read-only file system" in errors
    assert_no_traceback(errors)
    check_untouched(sealed, before, *under)


@pytest.mark.parametrize(
    ("locked", "status", "words"),
    [
        ("results", 2, "results: can't be written: Permission denied\n    make the folder writable for you"),
        ("results/.in-progress", 2, "can't be written: Permission denied\n    make the folder writable for you"),
        ("results/silent/tlp-std/single", 1, "Permission denied; make the folder writable for you"),
        ("results/silent", 1, "Permission denied; make the folder writable for you"),
    ],
)
def test_results_that_may_not_be_written(sealed, locked, status, words):
    before = hashes(sealed)
    folder = sealed.root / locked
    if locked == "results":
        (folder / ".in-progress").rmdir()
    folder.chmod(0o555)
    try:
        found, output, errors = sealed.call(*RUN, under=POWERLESS)
        assert found == status, output + errors
        assert words in output + errors
        assert_no_traceback(output, errors)
        assert sealed.unsealed() == []
        assert before.items() <= hashes(sealed).items()
    finally:
        folder.chmod(0o755)
    check_untouched(sealed, hashes(sealed))


def test_a_manifest_that_may_not_be_read(sealed):
    (folder,) = sealed.sealed()
    (folder / "manifest.json").chmod(0)
    status, _, errors = sealed.call("table", *SHOWN, under=POWERLESS)
    assert status == 1
    assert "manifest.json: cannot be read: Permission denied" in errors
    status, output, errors = sealed.call("check-results", under=POWERLESS)
    assert status == 1
    assert "manifest.json: can't be read" in output
    assert_no_traceback(output, errors)


def test_no_shared_memory_is_needed(project):
    under = mounting("mount -t tmpfs -o size=4k tmpfs /dev/shm")
    status, output, errors = project.call(*ONE, under=under)
    assert status == 0, output + errors


@pytest.mark.parametrize("command", [ONE, ("list",), ("check-results",)])
def test_output_that_can_not_be_written(sealed, command):
    with open("/dev/full", "w") as full:
        engine = [sys.executable, "-m", "pathwarp", "--root", str(sealed.root), *command]
        done = subprocess.run(engine, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "pathwarp: No space left on device; free some space\n"
