# SPDX-License-Identifier: Apache-2.0
"""Running Ansible: what the user sees of it, what a failure says, what an interruption leaves."""

import os
import select
import signal
import subprocess
import sys
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


# A program, a child of it in a session of its own, and that child's child, which loses its parent.
FAMILY = """
import os, subprocess, sys, time
if sys.argv[1] != "0":
    subprocess.Popen([sys.executable, __file__, str(int(sys.argv[1]) - 1), sys.argv[2]], start_new_session=True)
with open(f"{sys.argv[2]}/pids", "a") as file:
    file.write(f"{os.getpid()}\\n")
if sys.argv[1] != "1":
    time.sleep(600)
"""
CALLER = """
import os, sys
from pathlib import Path
from pathwarp.base import interrupt
from pathwarp.prepare import ansible
interrupt.begin()
folder = Path(sys.argv[1])
ansible.run([sys.executable, str(folder / "family.py"), "2", str(folder)], folder, os.environ, folder / "log")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_the_engine_ends_all_that_was_started(tmp_path, number):
    (tmp_path / "family.py").write_text(FAMILY)
    engine = subprocess.Popen([sys.executable, "-c", CALLER, str(tmp_path)], cwd=ROOT, stderr=subprocess.DEVNULL)
    pids = tmp_path / "pids"
    while not (pids.exists() and pids.read_text().count("\n") == 3):
        assert engine.poll() is None
        time.sleep(0.01)
    descriptors = [os.pidfd_open(int(pid)) for pid in pids.read_text().split() if Path("/proc", pid).exists()]
    assert len(descriptors) >= 2
    engine.send_signal(number)
    assert engine.wait() != 0
    for descriptor in descriptors:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        assert poll.poll(20_000)
        os.close(descriptor)


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
