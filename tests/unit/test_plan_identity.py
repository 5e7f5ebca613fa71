# SPDX-License-Identifier: Apache-2.0
"""The trial id and the bytes that a guest gets: one changes when, and only when, the other does."""

import io
import json
import shutil
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from golden_project import copy_project
from inputs_of_trial import RELEASE, id_of, inputs_of

from pathwarp.plan.identity import GUEST, guest_files, hash_files, hash_orders, trial_id
from pathwarp.plan.orders import orders
from pathwarp.plan.request import Request, plan_trials
from pathwarp.plan.trial import Trial
from pathwarp.prepare import kernel, lab
from pathwarp.run import queue, worker
from pathwarp.run.guests.guest import GuestFailed
from pathwarp.run.guests.machine import Machine
from pathwarp.run.guests.uml import Uml
from pathwarp.run.guests.vm import Vm
from pathwarp.run.kinds import TRIALS

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path) -> Path:
    root = copy_project(tmp_path / "project")
    for name in ("vms", "playbooks"):
        shutil.copytree(ROOT / name, root / name, dirs_exist_ok=True)
    shutil.copytree(ROOT / GUEST, root / GUEST, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "Vagrantfile", root)
    shutil.copy(ROOT / "kernels" / "base.yaml", root / "kernels")
    return root


def first(project: Path, backend: str = "uml") -> Trial:
    return plan_trials(Request(project, "cut", ("better",), runs=1, backend=backend))[0]


@pytest.fixture
def make_job(project, monkeypatch):
    """A function that makes the job of the project's first trial as a run does, from products that are made up."""
    build = {"release": RELEASE, "binary_sha256": "1" * 64}
    monkeypatch.setattr(kernel.Kernel, "record", build)
    monkeypatch.setattr(kernel.Kernel, "check_binary", lambda self: None)
    monkeypatch.setattr(lab, "read_lab", lambda *_: {"packages_sha256": "2" * 64, "inputs": "8" * 64})

    kind = replace(TRIALS, ensure=lambda *what: None)

    def make(backend: str = "uml") -> worker.Job:
        (job,) = queue.make_jobs(project, [first(project, backend)], worker.seal_and_measure, kind)
        return job

    return make


def test_every_byte_of_every_order_counts(project):
    given = orders(first(project), RELEASE)
    assert sorted(given) == ["logs/plan.json", "logs/sizes.txt", "logs/waits.txt"]
    ids = {trial_id({**inputs_of(first(project)), "orders": hash_orders(given)})}
    number = 1
    for name, content in given.items():
        for place in range(len(content)):
            other = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
            ids.add(trial_id({**inputs_of(first(project)), "orders": hash_orders({**given, name: other})}))
            number += 1
            if place > 200:
                break
        ids.add(trial_id({**inputs_of(first(project)), "orders": hash_orders({**given, f"{name}x": content})}))
        number += 1
    assert len(ids) == number


def test_the_guest_gets_the_bytes_that_are_hashed(make_job, tmp_path):
    job = make_job()
    folder = tmp_path / "run"
    (folder / "logs").mkdir(parents=True)

    class Guests(Uml):
        def run(self, kernel, run, trial):
            raise GuestFailed("this far")

    with pytest.raises(GuestFailed):
        worker.emulate(job, folder, Guests(job.root))
    written = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    assert hash_files(folder, written) == job.inputs["orders"]
    assert json.loads(written["logs/plan.json"].read_text())["release"] == RELEASE


def test_the_id_can_be_made_again_from_the_manifest(make_job):
    job = make_job()
    assert trial_id(json.loads(json.dumps(job.inputs))) == job.trial_id


@pytest.mark.parametrize("backend", ["uml", "vm"])
def test_code_and_what_boots_it_count_by_their_paths(project, make_job, backend):
    ids = {make_job(backend).trial_id}
    guest = project / GUEST
    changes = [
        lambda: (guest / "tools").mkdir(),  # nothing yet
        lambda: (guest / "tools" / "flow.py").write_text("# new\n"),
        lambda: (guest / "tools" / "flow.py").write_text("# newer\n"),
        lambda: (guest / "tools").rename(guest / "engines"),
        lambda: (guest / "engines" / "flow.py").rename(guest / "engines" / "mininet.py"),
        lambda: (guest / "trial.py").write_text((guest / "trial.py").read_text() + "\n"),
        lambda: (project / "vms/decode.sh").write_text("exit 1\n"),
    ]
    for change in changes:
        change()
        ids.add(make_job(backend).trial_id)
    assert len(ids) == len(changes)


def test_caches_and_limits_do_not_count(project, make_job):
    before = make_job().trial_id
    cache = project / GUEST / "__pycache__"
    cache.mkdir()
    (cache / "trial.cpython-311.pyc").write_bytes(b"\0")
    (cache / "trial.py").write_text("")
    settings = project / "vms/uml.yaml"
    settings.write_text(settings.read_text().replace("wall: 5 min", "wall: 6 min"))
    assert make_job().trial_id == before


def test_what_the_settings_say_of_the_boot_counts(project, make_job):
    for backend, file, old, new in (
        ("uml", "vms/uml.yaml", "memory: 384M", "memory: 385M"),
        ("uml", "vms/uml.yaml", "2026-01-01", "2026-01-02"),
        ("vm", "vms/vm.yaml", "memory: 2048M", "memory: 2049M"),
    ):
        before = make_job(backend).trial_id
        text = (project / file).read_text()
        assert old in text
        (project / file).write_text(text.replace(old, new))
        assert make_job(backend).trial_id != before, new


def test_every_word_of_the_boot_command_counts(project):
    trial = first(project)
    words = Uml(project).boot(trial)
    ids = {id_of(trial, boot=words)}
    for place in range(len(words)):
        ids.add(id_of(trial, boot=[*words[:place], f"{words[place]}x", *words[place + 1 :]]))
        ids.add(id_of(trial, boot=words[:place] + words[place + 1 :]))
    assert len(ids) == 1 + 2 * len(words)


def test_no_folder_of_the_host_is_in_the_boot_command(project, tmp_path):
    uml, trial = Uml(project), first(project)
    words, command = uml.boot(trial), uml.command(tmp_path / "kernel", tmp_path / "run", trial)
    assert not any(str(tmp_path) in word for word in (*words, *Vm(project).boot(trial)))
    differ = {word: real for word, real in zip(words, command, strict=True) if word != real}
    assert differ == {
        "vms/uml-start.sh": str(project / "vms/uml-start.sh"),
        "KERNEL": str(tmp_path / "kernel"),
        "LAB": str(project / "build/lab/root"),
        "CODE": str(project / GUEST),
        "RUN": str(tmp_path / "run"),
    }


def test_a_machine_gets_the_files_that_are_hashed(project, make_job, monkeypatch):
    guest = project / GUEST
    for name in ("apps/__init__.py", "apps/more/last.py", "apps/__pycache__/last.py", "notes.txt"):
        (guest / name).parent.mkdir(parents=True, exist_ok=True)
        (guest / name).write_text("# here\n")
    machine = Machine.__new__(Machine)
    sent = []
    monkeypatch.setattr(machine, "_ssh", lambda command, **streams: sent.append(streams["given"]))
    machine._send(guest, guest_files(project), "/opt/pathwarp")
    with tarfile.open(fileobj=io.BytesIO(*sent)) as archive:
        names = [(GUEST / member.name).as_posix() for member in archive]
    assert sorted(names) == sorted(make_job("vm").inputs["guest"])
    assert "pathwarp/guest/apps/more/last.py" in names
    assert not any("__pycache__" in name or name.endswith(".txt") for name in names)
