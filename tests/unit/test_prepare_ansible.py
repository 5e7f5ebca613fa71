# SPDX-License-Identifier: Apache-2.0
"""Running Ansible: what the user sees of it, what a failure says, what an interruption leaves."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import yaml

from pathwarp.base.complaints import Complaints, Exit
from pathwarp.prepare import ansible

ROOT = Path(__file__).parents[2]
SAVED = ROOT / "tests" / "golden" / "build"


def play(tmp_path, *lines, status=0, before=""):
    """Run a program that prints `lines` as Ansible would."""
    program = f"import sys, time\n{before}\nfor line in {lines!r}:\n print(line, flush=True)\nsys.exit({status})"
    log = tmp_path / "build" / "logs" / "ansible.log"
    ansible.run([sys.executable, "-c", program], tmp_path, os.environ, log)
    return log


def failure(tmp_path, *lines):
    with pytest.raises(Complaints) as caught:
        play(tmp_path, *lines, status=2)
    assert caught.value.code == Exit.FAILED
    return str(caught.value)


def saved(name):
    return (SAVED / f"{name}.txt").read_text().splitlines()


def test_all_output_goes_to_the_log_and_none_to_the_user(tmp_path, capfd):
    log = play(tmp_path, "PLAY [x.] ***", "TASK [Find a thing.] ***", "ok: [localhost]")
    assert log.read_text() == "PLAY [x.] ***\nTASK [Find a thing.] ***\nok: [localhost]\n"
    assert capfd.readouterr() == ("", "")


def test_a_task_that_takes_its_time_is_announced_once(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(ansible, "PATIENCE_S", 0.4)
    slow = (
        "quick = print\ndef print(line, flush):\n quick(line, flush=True)\n time.sleep(1.2 * line.startswith('slow'))"
    )
    lines = ["TASK [Find it.] ***", "ok", "TASK [x : Build it.] ***", "slow 1", "slow 2", "TASK [Find more.] ***", "ok"]
    play(tmp_path, *lines, before=slow)
    assert capfd.readouterr().err == "  Build it.\n"


@pytest.mark.parametrize("name", ["kernel-fails", "packages-missing", "download-fails"])
def test_a_failure_as_ansible_said_it(tmp_path, name):
    *output, _, expected = (SAVED / f"{name}.txt").read_text().partition("=== said to the user\n")
    assert failure(tmp_path, *"".join(output).splitlines()) + "\n" == expected


def test_a_failure_without_a_task_shows_the_last_lines(tmp_path):
    said = failure(tmp_path, "ERROR! the playbook: x could not be found")
    assert "    ERROR! the playbook: x could not be found\n" in said
    assert "the command was: " in said


def test_an_interrupt_ends_all_that_was_started_also_in_sessions_of_its_own(tmp_path):
    marker = tmp_path / "pid"
    child = f"import os, time; open({str(marker)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], start_new_session=True)"

    def interrupt():
        while not (marker.exists() and marker.read_text()):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        ansible.run([sys.executable, "-c", parent], tmp_path, os.environ, tmp_path / "log")
    with pytest.raises(ProcessLookupError):
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            # A zombie that nobody has waited for yet still has a number.
            os.kill(int(marker.read_text()), 0)
            time.sleep(0.01)


def test_the_playbooks_are_what_ansible_takes():
    command = [sys.executable, "-m", "ansible", "playbook", "--syntax-check", "playbooks/site.yml"]
    environment = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "playbooks" / "ansible.cfg"), "LC_ALL": "C.UTF-8"}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


# What plays, blocks and tasks have besides a module; those that hold others have none.
HOLDERS = ("hosts", "block", "import_playbook")
KEYWORDS = (
    *("name", "tags", "when", "vars", "environment", "connection", "gather_facts", "become", "tasks", "rescue"),
    *("always", "register", "changed_when", "failed_when", "loop", "loop_control"),
)


def tasks_in(entries):
    for entry in entries:
        yield entry
        for part in ("tasks", "block", "rescue", "always"):
            yield from tasks_in(entry.get(part, []))


@pytest.mark.parametrize("path", sorted((ROOT / "playbooks").rglob("*.yml")), ids=lambda path: path.name)
def test_every_task_says_what_it_does_and_uses_what_ansible_brings(path):
    entries = list(tasks_in(yaml.safe_load(path.read_text())))
    assert entries
    for entry in entries:
        assert entry["name"][0].isupper(), entry["name"]
        assert entry["name"].endswith("."), entry["name"]
        modules = [key for key in entry if key not in (*KEYWORDS, *HOLDERS)]
        assert len(modules) == (0 if entry.keys() & set(HOLDERS) else 1), entry
        assert all(module.startswith("ansible.builtin.") for module in modules)
        assert "shell" not in entry
