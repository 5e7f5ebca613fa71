# SPDX-License-Identifier: Apache-2.0
"""The Makefile: what the user types reaches the engine untouched, and the engine's exit status comes back."""

import os
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# In place of build/venv/bin/python: writes down what it was called with, and ends with the status that it is told to.
STUB = """\
#!/bin/sh
printf '%s\\0' "$@" >arguments
env -0 >environment
test ! -e wait || exec sleep 60
exit "$(cat status)"
"""


@pytest.fixture
def project(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copytree(ROOT / "playbooks", tmp_path / "playbooks")
    installed = tmp_path / "build" / "venv" / "installed"
    installed.mkdir(parents=True)
    for name in ("requirements.txt", "requirements-test.txt"):
        shutil.copy(ROOT / name, tmp_path)
        shutil.copy(ROOT / name, installed)
    python = tmp_path / "build" / "venv" / "bin" / "python"
    python.parent.mkdir()
    python.write_text(STUB)
    python.chmod(0o755)
    (tmp_path / "status").write_text("0")
    return tmp_path


def environment():
    return {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS", "PATHWARP"))}


def make(project, *arguments, **more):
    env = environment() | more
    return subprocess.run(["make", *arguments], cwd=project, env=env, capture_output=True, text=True, check=False)


def seen(project):
    """The engine's arguments, and the options in its environment."""
    arguments = (project / "arguments").read_text().split("\0")[:-1]
    variables = dict(line.split("=", 1) for line in (project / "environment").read_text().split("\0")[:-1])
    return arguments, {key: value for key, value in variables.items() if key.startswith("PATHWARP_") and value}


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
    ],
)
def test_targets(project, arguments, called):
    assert make(project, *arguments).returncode == 0
    assert seen(project)[0] == ["-m", "pathwarp", *called]


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


@pytest.mark.parametrize("status", [0, 1, 2])
def test_the_exit_status_is_the_engines(project, status):
    (project / "status").write_text(str(status))
    assert make(project, "scenario=x").returncode == status
    assert make(project, "list", "-s").returncode == status
    assert [path.name for path in (project / "build").iterdir()] == ["venv"]


def test_an_interrupted_engine_ends_make_as_an_interrupt_does(project):
    (project / "status").write_text("130")
    assert make(project, "scenario=x").returncode == -signal.SIGINT


def test_an_interrupt_from_the_keyboard(project):
    (project / "wait").touch()
    process = subprocess.Popen(["make", "scenario=x"], cwd=project, env=environment(), start_new_session=True)
    while not (project / "environment").exists():
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(10) == -signal.SIGINT


def test_a_dry_run_runs_nothing(project):
    assert "playbooks/engine.sh" in make(project, "-n", "scenario=x").stdout
    assert not (project / "arguments").exists()


def test_tests_are_run_after_all_is_prepared(project):
    assert make(project, "test").returncode == 0
    assert seen(project)[0] == ["-m", "pytest", "tests"]


def test_clean_keeps_downloads_and_results(project):
    for folder in ("build/downloads", "build/kernels", "build/lab", "results/x"):
        (project / folder).mkdir(parents=True, exist_ok=True)
    assert make(project, "clean").returncode == 0
    assert [path.name for path in (project / "build").iterdir()] == ["downloads"]
    assert (project / "results" / "x").exists()


def test_up_to_date_make_is_at_the_engine_at_once(project):
    # CPU time, which doesn't depend on what else the machine does.
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(10):
        make(project, "scenario=x")
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime) / 10 < 0.1
