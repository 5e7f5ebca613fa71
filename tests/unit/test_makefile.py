# SPDX-License-Identifier: Apache-2.0
"""The Makefile: what the user types reaches the engine untouched, and the engine's exit status comes back."""

import os
import select
import signal
import subprocess
import time

import pytest
from engine_folder import make_engine

# In place of the engine's commands: writes down what it was called with, and ends with the status that it is told to.
STUB = """\
import os, sys
from pathlib import Path
from pathwarp.base import interrupt

def main(arguments):
    Path("arguments").write_text("\\0".join(arguments))
    Path("environment").write_text("\\0".join(f"{name}={value}" for name, value in os.environ.items()))
    if Path("wait").exists():
        Path("engine").write_text(str(os.getpid()))
        try:
            interrupt.wait((), 60)
        except KeyboardInterrupt:
            return 130
    return int(Path("status").read_text())
"""


@pytest.fixture
def project(tmp_path):
    project = make_engine(tmp_path / "a project")
    (project / "pathwarp" / "cli.py").write_text(STUB)
    (project / "status").write_text("0")
    return project


def environment():
    return {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS", "PATHWARP"))}


def make(project, *arguments, deaf=False, **more):
    # However the tests were started: as a script's background job is, or not.
    signals = ["--ignore-signal=INT", "--ignore-signal=QUIT"] if deaf else ["--default-signal=INT,QUIT,TERM"]
    command = ["env", *signals, "make", *arguments]
    env = environment() | more
    return subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, check=False)


def seen(project):
    """The engine's arguments, and the options in its environment."""
    arguments = (project / "arguments").read_text().split("\0")
    variables = dict(line.split("=", 1) for line in (project / "environment").read_text().split("\0"))
    return arguments, {key: value for key, value in variables.items() if key.startswith("PATHWARP_")}


def test_make_alone_says_what_there_is(project):
    result = make(project)
    assert result.returncode == 0
    for target in ("list", "table", "figures", "kernels", "lab", "test", "clean"):
        assert f"make {target}" in result.stdout
    assert not (project / "arguments").exists()


@pytest.mark.parametrize(
    ("arguments", "called"),
    [
        (["scenario=x"], ["run"]),
        (["run"], ["run"]),
        (["list"], ["list"]),
        (["table", "scenario=x"], ["table"]),
        (["figures", "scenario=x"], ["figures"]),
        (["kernels"], ["build", "kernels"]),
        (["lab"], ["build", "lab"]),
        (["check-results"], ["check-results"]),
    ],
)
def test_targets(project, arguments, called):
    assert make(project, *arguments).returncode == 0
    assert seen(project)[0] == called


def test_every_option_gets_through(project):
    names = ("scenario", "variant", "traffic", "runs", "seed", "backend", "jobs", "force", "metric", "set")
    make(project, *(f"{name}=a {name}" for name in names))
    assert seen(project)[1] == {f"PATHWARP_{name.upper()}": f"a {name}" for name in names}


@pytest.mark.parametrize(
    "text",
    [
        "$(shell touch bad)",
        "$(rm -rf x)",
        "`touch bad`",
        "$$(touch bad)",
        "'; touch bad; '",
        '"',
        "a  b ",
        "#",
        "%\\",
        "ö\n$x",
    ],
)
def test_nobody_looks_into_what_the_user_gives(project, text):
    make(project, f"scenario={text}", f"runs={text}")
    assert seen(project)[1] == {"PATHWARP_SCENARIO": text, "PATHWARP_RUNS": text}
    assert not (project / "bad").exists()


def test_variables_of_the_same_names_in_the_environment_mean_nothing(project):
    assert "make scenario=NAME" in make(project, scenario="x").stdout
    make(project, "scenario=x", seed="7", PATHWARP_JOBS="9")
    assert seen(project)[1] == {"PATHWARP_SCENARIO": "x"}


def test_nothing_of_makes_own_reaches_what_the_engine_calls(project):
    make(project, "scenario=x", "time=real")
    variables = (project / "environment").read_text().split("\0")
    assert not [line for line in variables if line.startswith(("MAKE", "MFLAGS", "scenario=", "time="))]


@pytest.mark.parametrize("status", [0, 1, 2])
def test_the_exit_status_is_the_engines(project, status):
    (project / "status").write_text(str(status))
    for _ in range(5):
        assert make(project, "scenario=x").returncode == status
    assert make(project, "list", "-s").returncode == status
    assert make(project, "list", "table", "-j2").returncode == status
    assert [path.name for path in (project / "build").iterdir()] == ["venv"]


def test_an_interrupted_engine_ends_make_as_an_interrupt_does(project):
    (project / "status").write_text("130")
    for _ in range(5):
        assert make(project, "scenario=x").returncode == -signal.SIGINT


@pytest.mark.parametrize("status", [1, 130])
def test_a_make_that_is_deaf_ends_with_its_own_status(project, status):
    (project / "status").write_text(str(status))
    assert make(project, "scenario=x", deaf=True).returncode == 2


@pytest.mark.parametrize(
    ("number", "whom", "statuses"),
    [
        (signal.SIGINT, os.killpg, [-signal.SIGINT]),
        (signal.SIGTERM, os.killpg, [-signal.SIGTERM, -signal.SIGINT]),
        # Make passes this one on.
        (signal.SIGTERM, os.kill, [-signal.SIGTERM, -signal.SIGINT]),
    ],
)
def test_a_request_to_end_make_ends_the_engine(project, number, whom, statuses):
    (project / "wait").touch()
    command = ["env", "--default-signal=INT,QUIT,TERM", "make", "scenario=x"]
    process = subprocess.Popen(command, cwd=project, env=environment(), start_new_session=True)
    while not (project / "engine").exists() or not (project / "engine").read_text():
        time.sleep(0.01)
    engine = os.pidfd_open(int((project / "engine").read_text()))
    whom(process.pid, number)
    assert process.wait(10) in statuses
    assert select.select([engine], [], [], 10)[0]
    os.close(engine)


def test_a_dry_run_runs_nothing_and_shows_that_make_calls_nothing_but_the_engine(project):
    assert make(project, "-n", "scenario=x").stdout.splitlines() == ["bin/pathwarp --make run"]
    assert not (project / "arguments").exists()


def test_tests_are_run_after_all_is_prepared(project):
    commands = make(project, "-n", "test").stdout.splitlines()
    assert commands[0].startswith("playbooks/bootstrap.sh ")
    assert commands[-1].startswith("build/venv/bin/python -m pytest ")
    assert all(command.startswith("bin/pathwarp build ") for command in commands[1:-1])


def test_clean_keeps_downloads_and_results(project):
    for folder in ("build/downloads", "build/kernels", "build/lab", "results/x"):
        (project / folder).mkdir(parents=True, exist_ok=True)
    assert make(project, "clean").returncode == 0
    assert [path.name for path in (project / "build").iterdir()] == ["downloads"]
    assert (project / "results" / "x").exists()
