# SPDX-License-Identifier: Apache-2.0
"""What a preparation leaves to Ansible, and that it is nothing when all is up to date."""

import multiprocessing
import time
from pathlib import Path

import pytest
from kernel_project import make_project

from pathwarp.base.complaints import Complaints, Exit
from pathwarp.model.catalogue import Catalogue
from pathwarp.model.load import load_variant
from pathwarp.prepare import kernel, lab, prepare


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project where nothing is current until a playbook was run for it; `runs` has what for."""
    root = make_project(tmp_path / "project")
    runs, done = [], set()

    def run_playbook(_, tags, variables):
        runs.append((list(tags), variables["variants"]))
        made = variants(root, *variables["variants"]) if "kernels" in tags else []
        done.update(kernel.find_kernel(root, variant).name for variant in made)
        done.update(["lab"] if "lab" in tags else [])

    monkeypatch.setattr(prepare, "_run_playbook", run_playbook)
    monkeypatch.setattr(kernel.Kernel, "is_current", lambda self: self.name in done)
    monkeypatch.setattr(lab, "is_current", lambda *_: "lab" in done)
    return root, runs


def variants(root, *names):
    return [load_variant(Catalogue(root), name) for name in names]


def test_only_what_is_not_current_is_made(project):
    root, runs = project
    prepare.prepare_kernels(root, variants(root, "plain"))
    prepare.ensure(root, variants(root, "plain", "better"))
    prepare.ensure(root, variants(root, "better", "plain"))
    prepare.prepare_lab(root)
    assert runs == [(["host", "kernels"], ["plain"]), (["host", "lab", "kernels"], ["better"])]


def test_a_kernel_that_variants_share_is_made_once_and_said_so(project, capsys):
    root, runs = project
    folder = root / "kernels" / "variants" / "simple"
    folder.mkdir()
    (folder / "variant.yaml").write_text("name: simple\ntitle: x\nsource: x\nextends: plain\n")
    prepare.prepare_kernels(root, variants(root, "plain", "better", "simple"))
    assert capsys.readouterr().err == "pathwarp: 2 kernels for 3 variants in 0 s\n"
    prepare.prepare_kernels(root, variants(root, "simple"))
    assert runs == [(["host", "kernels"], ["plain", "simple", "better"])]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("seconds", "words"), [(0.4, "0 s"), (59.6, "1 min 0 s"), (372, "6 min 12 s")])
def test_a_span_in_words(seconds, words):
    assert prepare.describe_time(seconds) == words


def test_the_tests_tools_are_looked_for_and_then_asked_for(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(prepare, "_run_playbook", lambda _, tags, variables: asked.append((tags, variables)))
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in prepare.TEST_PROGRAMS:
        monkeypatch.setattr(prepare, "_path", lambda: str(tools))
        prepare.prepare_tests(tmp_path)
        (tools / name).touch(0o755)
    prepare.prepare_tests(tmp_path)
    assert asked == [(["host"], {"project": str(tmp_path), "with_tests": True})] * len(prepare.TEST_PROGRAMS)


def test_what_a_killed_preparation_left_is_cleared_away(project):
    root, _ = project
    (root / "build" / "work" / "base-uml.killed").mkdir(parents=True)
    prepare.prepare_lab(root)
    assert not (root / "build" / "work").exists()


def test_complaints_of_all_inputs_at_once_and_before_anything_is_made(tmp_path):
    root = make_project(tmp_path / "project")
    (root / "vms" / "lab.yaml").write_text("suite: bookworm\n")
    (root / "kernels" / "variants" / "plain" / "series").write_text("none.patch\n")
    with pytest.raises(Complaints) as caught:
        prepare.ensure(root, variants(root, "plain", "better"))
    assert caught.value.code == Exit.BAD_INPUT
    assert "vms/lab.yaml" in str(caught.value)
    assert str(caught.value).count("there is no file none.patch") == 1
    assert not (root / "build" / "lock").exists()


def test_a_build_folder_that_is_a_file(project):
    root, _ = project
    (root / "build").rename(root / "moved")
    (root / "build").touch()
    with pytest.raises(Complaints, match="build: cannot be written") as caught:
        prepare.prepare_lab(root)
    assert caught.value.code == Exit.FAILED


def _prepare_slowly(root: Path, begun) -> None:
    def run_playbook(*_):
        begun.set()
        time.sleep(0.3)
        with (root / "build" / "made").open("a") as made:
            made.write("x")

    prepare._run_playbook = run_playbook
    lab.is_current = lambda *_: (root / "build" / "made").read_text() != ""
    prepare.prepare_lab(root)


def test_two_at_once_do_not_make_the_same_thing_twice(tmp_path):
    root = make_project(tmp_path / "project")
    (root / "build" / "made").write_text("")
    context = multiprocessing.get_context("fork")
    begun = context.Event()
    both = [context.Process(target=_prepare_slowly, args=(root, begun)) for _ in range(2)]
    both[0].start()
    assert begun.wait(10)
    both[1].start()
    for process in both:
        process.join(10)
        assert process.exitcode == 0
    assert (root / "build" / "made").read_text() == "x"
