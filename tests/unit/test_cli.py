# SPDX-License-Identifier: Apache-2.0
"""The command line from outside: exit status, what goes to which stream, bad files as golden messages."""

import os
import shlex
import subprocess
import sys
import types
from pathlib import Path

import pytest
from golden_project import GOLDEN, copy_project
from sealed_writer import seal

from pathwarp.base.complaints import Complaints, Exit
from pathwarp.cli import main
from pathwarp.compare.repeated import repeat
from pathwarp.model.metrics import METRICS
from pathwarp.plan.orders import plan_of

CASES = sorted(path.name for path in (GOLDEN / "complaints").iterdir())


@pytest.fixture
def project(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("PATHWARP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    return copy_project(tmp_path / "project")


@pytest.fixture
def runner(project, monkeypatch):
    """A runner that seals trials with a burst completion time of 100 ms, `better` with 50 ms, and notes its calls."""
    module = types.ModuleType("pathwarp.run.queue")
    module.calls = []
    module.failed = 0

    def run_trials(root, trials, jobs, retries, again):
        assert root == project
        module.calls.append((trials, jobs, again))
        for trial in trials[module.failed :]:
            folder = project / trial.folder
            value = 50.0 if trial.variant.name == "better" else 100.0
            seal(folder, {"affected_burst_completion_time_ms": value + trial.seed})
        return module.failed

    module.run_trials = run_trials
    monkeypatch.setitem(sys.modules, "pathwarp.run.queue", module)
    return module


def call(project, *arguments):
    return main(["--root", str(project), *arguments])


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_explained_in_full(case, tmp_path, project, capsys):
    broken = copy_project(tmp_path / "broken", GOLDEN / "complaints" / case)
    before = sorted(broken.rglob("*"))
    arguments = shlex.split((GOLDEN / "complaints" / case / "arguments").read_text())
    assert call(broken, *arguments) == Exit.BAD_INPUT
    printed = capsys.readouterr()
    assert printed.err == (GOLDEN / "complaints" / case / "expected.txt").read_text()
    assert printed.out == "" or arguments == ["list"]
    assert sorted(broken.rglob("*")) == before


def test_list_has_a_line_for_each(project, capsys):
    assert call(project, "list") == Exit.DONE
    printed = capsys.readouterr()
    assert printed.out == (
        "scenario:\n  cut        the near path fails\n"
        "variant:\n  better     something special\n  plain      nothing special\n"
        "traffic:\n  pings      one packet once a second\n"
        "topology:\n  two-paths  a near and a far path\n"
    )
    assert printed.err == ""


def test_run_hands_over_the_trials_and_prints_the_table(project, runner, capsys):
    assert call(project, "run", "--scenario", "cut", "--runs", "2", "--jobs", "1", "--force") == Exit.DONE
    ((trials, jobs, again),) = runner.calls
    assert (len(trials), jobs, again) == (4, 1, repeat)
    printed = capsys.readouterr()
    assert "plain" in printed.out
    assert "better" in printed.out
    assert str(project / "results" / "cut") in printed.out


def test_the_environment_gives_options_too(project, runner, monkeypatch):
    chosen = {"SCENARIO": "cut", "VARIANT": "better", "TRAFFIC": "", "RUNS": "1", "SEED": "2", "JOBS": "", "FORCE": ""}
    for name, value in {**chosen, "SET": "events.0.into-burst=5 ms, duration=9 s", "ROOT": str(project)}.items():
        monkeypatch.setenv(f"PATHWARP_{name}", value)
    assert main(["run"]) == Exit.DONE
    (((baseline, trial), jobs, again),) = runner.calls
    assert (baseline.seed, baseline.variant.name) == (2, "plain")
    assert (trial.seed, trial.variant.name, jobs, again) == (2, "better", 2, None)
    assert plan_of(trial, "")["duration_s"] == 9.0
    assert plan_of(trial, "")["events"][0]["at_s"] == 4.205


def test_a_failed_trial_is_exit_1_and_the_others_are_shown(project, runner, capsys):
    runner.failed = 1
    assert call(project, "run", "--scenario", "cut") == Exit.FAILED
    assert "better" in capsys.readouterr().out
    runner.failed = 6
    assert call(project, "run", "--scenario", "cut", "--set", "duration=9 s") == Exit.FAILED
    assert "Traceback" not in capsys.readouterr().err


def test_a_build_that_fails_is_exit_1(project, monkeypatch, capsys):
    def run_trials(root, trials, jobs, retries, again):
        raise Complaints.one("kernels/variants/better/0001.patch", "does not apply", code=Exit.FAILED)

    monkeypatch.setitem(sys.modules, "pathwarp.run.queue", types.SimpleNamespace(run_trials=run_trials))
    assert call(project, "run", "--scenario", "cut") == Exit.FAILED
    assert capsys.readouterr().err == "kernels/variants/better/0001.patch: does not apply\n"


def test_build_prepares_what_is_named(project, monkeypatch, capsys):
    calls = []
    module = types.ModuleType("pathwarp.prepare.prepare")
    module.prepare_kernels = lambda root, variants, backend: calls.append(([v.name for v in variants], backend))
    module.prepare_lab = lambda root: calls.append(root)
    monkeypatch.setitem(sys.modules, "pathwarp.prepare.prepare", module)
    assert call(project, "build", "kernels") == Exit.DONE
    assert call(project, "build", "kernels", "--variant", "better", "--backend", "vm") == Exit.DONE
    assert call(project, "build", "lab") == Exit.DONE
    assert calls == [(["better", "plain"], "uml"), (["better"], "vm"), project]
    assert call(project, "build", "kernels", "--variant", "bettr,plan", "--backend", "kvm") == Exit.BAD_INPUT
    assert "3 faults" in capsys.readouterr().err


def test_an_interrupt_is_exit_130(project, monkeypatch, capsys):
    def run_trials(root, trials, jobs, retries, again):
        raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "pathwarp.run.queue", types.SimpleNamespace(run_trials=run_trials))
    assert call(project, "run", "--scenario", "cut") == Exit.INTERRUPTED
    assert "interrupted" in capsys.readouterr().err


def test_table_shows_what_is_sealed(project, runner, capsys):
    assert call(project, "table", "--scenario", "cut") == Exit.BAD_INPUT
    assert "no sealed trials" in capsys.readouterr().err
    call(project, "run", "--scenario", "cut")
    capsys.readouterr()
    assert call(project, "table", "--scenario", "cut", "--variant", "better") == Exit.DONE
    assert "plain" in capsys.readouterr().out, "the baseline is shown where it is sealed"


def test_an_unknown_metric_is_named_with_the_valid_ones(project, runner, capsys):
    call(project, "run", "--scenario", "cut")
    capsys.readouterr()
    assert call(project, "table", "--scenario", "cut", "--metric", "goodput") == Exit.BAD_INPUT
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "metric: unknown metric 'goodput'",
        f"    valid: {', '.join(METRICS)}",
        "    did you mean goodput_mbps?",
        "pathwarp: 1 fault in the input, nothing was changed",
    ]


def test_a_damaged_folder_leaves_the_others_in_the_table(project, runner, capsys):
    call(project, "run", "--scenario", "cut", "--runs", "2")
    (project / "results/cut/better/pings/seed-002/manifest.json").write_text("{")
    capsys.readouterr()
    assert call(project, "table", "--scenario", "cut") == Exit.FAILED
    printed = capsys.readouterr()
    rows = [line.split()[:3] for line in printed.out.splitlines()[3:5]]
    assert rows == [["plain", "pings", "2"], ["better", "pings", "1"]]
    assert "better/pings/seed-002/manifest.json: is not JSON" in printed.err
    for folder in (project / "results/cut").glob("*/*/seed-*"):
        (folder / "manifest.json").write_text("{")
    assert call(project, "table", "--scenario", "cut") == Exit.FAILED
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("is not JSON")) == ("", 4)


@pytest.mark.parametrize("root", ["a" * 5000, "nowhere"])
def test_a_root_that_is_no_folder_is_bad_input(root, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["--root", root, "list"]) == Exit.BAD_INPUT
    assert "is no folder that can be read" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["bake"], ["run", "--colour", "red"], ["run", "cut"], ["--root"]])
def test_usage_complaints_are_exit_2(project, capsys, arguments):
    assert call(project, *arguments) == Exit.BAD_INPUT
    assert "Error: " in capsys.readouterr().err


def test_help_of_every_command(project, capsys):
    for command in ([], ["run"], ["list"], ["table"], ["figures"], ["build"], ["build", "kernels"], ["traffic"]):
        assert call(project, *command, "--help") == Exit.DONE
        assert "Usage: pathwarp" in capsys.readouterr().out


def test_a_reader_that_goes_away_is_no_traceback(project):
    command = [sys.executable, "-m", "pathwarp", "--root", str(project), "list"]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        command, stdout=writing, stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2], check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (Exit.FAILED, "")


def test_a_source_that_is_none_and_one_that_machines_cannot_have(project, tmp_path, capsys):
    words = ["run", "--scenario", "cut", "--kernel", str(tmp_path / "none")]
    assert call(project, *words) == Exit.BAD_INPUT
    assert "is no kernel's source: it has no Kbuild" in capsys.readouterr().err
    source = tmp_path / "linux"
    for name in ("Kbuild", "Makefile", "arch/um/Makefile", "scripts/kconfig/merge_config.sh"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).touch()
    assert call(project, *words[:-1], str(source), "--backend", "vm") == Exit.BAD_INPUT
    assert "kernel: is for User Mode Linux alone" in capsys.readouterr().err


def test_results_of_a_source_have_its_name_in_theirs(project, tmp_path, runner):
    source = tmp_path / "linux"
    for name in ("Kbuild", "arch/um/Makefile", "scripts/kconfig/merge_config.sh"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).touch()
    (source / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 18\nSUBLEVEL = 1\nEXTRAVERSION =\n")
    assert call(project, "run", "--scenario", "cut", "--kernel", str(source)) == Exit.DONE
    ((trials, _, _),) = runner.calls
    (name,) = {trial.folder.parts[1] for trial in trials}
    assert name.startswith("cut+kernel=6.18.1-")
    assert f"kernel={source}" in trials[0].command
    assert call(project, "table", "--scenario", "cut", "--kernel", str(source)) == Exit.DONE
