# SPDX-License-Identifier: Apache-2.0
"""What the command says and leaves behind when something is wrong."""

import json
import shutil
import signal
from pathlib import Path

import pytest
from project_folder import left_over

from pathwarp.base.hashing import hash_file

RUN = ("run", "--scenario", "silent", "--traffic", "single", "--runs", "1")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_leaves_what_is_sealed_and_nothing_else(project, number):
    process = project.start(*RUN, "--runs", "40")
    first = process.stdout.readline()
    process.send_signal(number)
    process.communicate()
    assert first.startswith("[ 1/80]")
    assert process.returncode == 130
    assert project.unsealed() == []
    assert left_over(project.root) == {}
    sealed = {folder: (folder / "manifest.json").read_bytes() for folder in project.sealed()}
    assert sealed
    status, output, _ = project.call(*RUN, "--runs", "2")
    assert status == 0
    assert "trials are sealed already" in output
    assert all((folder / "manifest.json").read_bytes() == manifest for folder, manifest in sealed.items())


def test_a_killed_engine_takes_its_guests_along(project):
    process = project.start(*RUN, "--runs", "40")
    process.stdout.readline()
    process.kill()
    process.communicate()
    assert project.call(*RUN)[0] == 0
    assert project.unsealed() == []
    assert left_over(project.root) == {}


def test_a_guest_with_another_kernel_is_void(project):
    build = project.root / "build"
    build.unlink()
    build.mkdir()
    checkout = Path(__file__).parents[2] / "build"
    for name in ("lab", "base", "downloads"):
        if (checkout / name).exists():
            (build / name).symlink_to(checkout / name)
    shutil.copytree(checkout / "kernels", build / "kernels")
    shutil.copy2(build / "kernels" / "mainline" / "uml" / "linux", build / "kernels" / "tlp-mp" / "uml" / "linux")
    status, output, errors = project.call(*RUN, "--variant", "tlp-mp")
    assert status == 1
    assert "build/kernels/tlp-mp/uml/linux: is not the file that was built" in errors
    record = build / "kernels" / "tlp-mp" / "uml" / "build.json"
    binary = hash_file(record.with_name("linux"))
    record.write_text(json.dumps({**json.loads(record.read_text()), "binary_sha256": binary}))
    status, output, _ = project.call(*RUN, "--variant", "tlp-mp")
    assert status == 1
    assert "FAILED: the guest runs" in output
    assert "pathwarp-mainline, not" in output
    assert [folder.parts[-3] for folder in project.sealed()] == ["tlp-std"]


def test_a_trial_without_its_second_subflow_fails(project):
    status, output, _ = project.call(*RUN, "--variant", "tlp-std", "--set", "events.0.at=50 ms")
    assert status == 1
    assert "FAILED: no subflow on 4g before the blackhole at 0.05 s" in output
    assert project.sealed() == []


def test_a_guest_that_fails_does_not_stop_the_others(project):
    call = "        check_kernel(plan)\n"
    project.replace("pathwarp/guest/trial.py", call, f"{call}        assert plan['seed'] != 1\n")
    status, output, _ = project.call(*RUN, "--variant", "tlp-std", "--runs", "2")
    assert status == 1
    assert "seed 1: FAILED: AssertionError" in output
    assert [json.loads((folder / "manifest.json").read_text())["seed"] for folder in project.sealed()] == [2]
    assert (project.root / "results" / ".failed" / "silent" / "tlp-std" / "single" / "seed-001").is_dir()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--scenario", "nonsense"), ["unknown scenario 'nonsense'", "silent"]),
        (("--scenario", "silent", "--variant", "tlp-mq,xx"), ["'tlp-mq'", "'xx'", "tlp-mp"]),
        (("--scenario", "silent", "--traffic", "doom"), ["'doom'", "single"]),
        (("--scenario", "../../etc"), ["'../../etc'"]),
        (("--scenario", "silent", "--set", "duration=8"), ["duration", "unit"]),
        (("--scenario", "silent", "--set", "events.0.at=-3 s"), ["events.0.at", "-3 s"]),
        (("--scenario", "silent", "--set", "events.0.path=dsl"), ["events.0.path", "dsl", "wlan"]),
        (("--scenario", "silent", "--runs", "0", "--seed", "x", "--jobs", "99"), ["runs", "seed", "jobs"]),
    ],
)
def test_bad_input_is_refused_with_all_its_complaints(project, arguments, words):
    status, output, errors = project.call("run", *arguments)
    assert status == 2
    assert output == ""
    assert all(word in errors for word in words), errors
    assert "Traceback" not in errors
    assert not (project.root / "results").exists()


def test_results_that_cannot_be_written_are_a_complaint(project):
    (project.root / "results").write_text("in the way")
    status, _, errors = project.call(*RUN)
    assert status == 2
    assert "can't be written" in errors
    assert (project.root / "results").read_text() == "in the way"
