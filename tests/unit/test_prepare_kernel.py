# SPDX-License-Identifier: Apache-2.0
"""Kernels, with a source of a few lines: what they are made from, when they are made anew, what a failure leaves."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from kernel_project import make_project, write_patch

from pathwarp.base.complaints import Complaints, Exit
from pathwarp.base.hashing import hash_file
from pathwarp.model.catalogue import Catalogue
from pathwarp.model.kerneltree import read_kernel_tree
from pathwarp.model.load import load_variant
from pathwarp.prepare.base import find_base
from pathwarp.prepare.kernel import find_kernel, group_by_kernel

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path):
    return make_project(tmp_path / "project")


def kernel(project, name="better", backend="uml"):
    """The kernel of a variant."""
    return find_kernel(project, load_variant(Catalogue(project), name), backend)


def build(project, name="better", backend="uml"):
    logs = project / "build" / "logs"
    logs.mkdir(exist_ok=True)
    with (logs / "x.log").open("w") as log:
        base = find_base(project, backend)
        if not base.is_current():
            base.build(log)
        kernel(project, name, backend).build(log)
    return kernel(project, name, backend).folder


def replace(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def assert_nothing_is_left(project):
    assert list((project / "build" / "work").iterdir()) == []
    assert not kernel(project).folder.exists()
    assert not kernel(project).is_current()


def patched(project):
    """Give the variant `plain` a patch of its own as well."""
    write_patch(project / "kernels" / "variants" / "plain" / "x.patch", 15)
    (project / "kernels" / "variants" / "plain" / "series").write_text("x.patch\n")


def test_patches_come_in_the_order_of_the_chain(project):
    patched(project)
    assert [patch.path.name for patch in kernel(project).base.patches] == ["0001-all.patch", "0002-only.patch"]
    assert [patch.path.name for patch in kernel(project).own] == ["x.patch", "0001-better.patch"]
    assert [patch.path.name for patch in kernel(project, "plain", "vm").base.patches] == ["0001-all.patch"]
    assert [patch.path.name for patch in kernel(project, "plain", "vm").own] == ["x.patch"]


def test_a_kernel_with_all_that_tells_what_it_is(project):
    folder = build(project)
    assert sorted(path.name for path in folder.iterdir()) == [
        "System.map",
        "build.json",
        "config",
        "linux",
        "release.txt",
    ]
    assert (folder / "release.txt").read_text() == "0.1.7-pathwarp-better\n"
    binary = (folder / "linux").read_text()
    for line in ("line 3 of 0001-all\n", "line 9 of 0002-only\n", "line 27 of 0001-better\n", "CONFIG_A=y\n"):
        assert line in binary
    assert binary.endswith("um 2026-01-01 00:00:00 UTC -pathwarp-better\n")
    record = kernel(project).record
    assert record["name"] == "better"
    assert record["release"] == "0.1.7-pathwarp-better"
    assert record["compiler"] == "cc 1"
    assert record["source"]["version"] == "0.1.7"
    assert record["source"]["package_version"] == "0.1.7-1"
    assert record["binary_sha256"] == hash_file(folder / "linux")
    assert record["config_sha256"] == hash_file(folder / "config")
    patch = project / "kernels" / "variants" / "better" / "0001-better.patch"
    assert record["patches"][-1] == {"file": "kernels/variants/better/0001-better.patch", "sha256": hash_file(patch)}
    assert len(record["patches"]) == 3
    assert not (find_base(project, "uml").folder / "tree" / "unneeded" / "huge.c").exists()
    assert kernel(project).is_current()
    assert not kernel(project, "plain").is_current()
    assert not kernel(project, "better", "vm").is_current()


def test_the_same_inputs_make_the_same_kernel_wherever_the_project_is(project, tmp_path, monkeypatch):
    first = build(project)
    monkeypatch.setenv("MAKEFLAGS", "n")
    monkeypatch.setenv("LOCALVERSION", "-mine")
    second = build(make_project(tmp_path / "else"))
    assert (first / "linux").read_bytes() == (second / "linux").read_bytes()
    assert hash_file(first / "config") == hash_file(second / "config")
    assert (first / "release.txt").read_text() == (second / "release.txt").read_text()


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("patches/0001-all.patch", "of 0001", "of number 1"),
        ("patches/series", "# uml", "# vm"),
        ("variants/better/0001-better.patch", "of 0001", "of number 1"),
        ("config/uml.config", "# CONFIG_B is not set", "CONFIG_C=y"),
        ("base.yaml", "2026-01-01", "2026-01-02"),
        ("unneeded/huge.txt", "unneeded", "documentation"),
    ],
)
def test_a_changed_input_makes_a_kernel_stale(project, file, old, new):
    build(project)
    before = kernel(project).inputs
    replace(project / "kernels" / file, old, new)
    assert kernel(project).inputs != before
    assert not kernel(project).is_current()


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("base.yaml", "tested: 0.1.2", "tested: 0.1.7"),
        ("base.yaml", "package:", "# new\npackage:"),
        ("config/uml.config", "# CONFIG_B is", "# a comment\n\n# CONFIG_B is"),
        ("unneeded/huge.txt", "linux", "# a comment\nlinux"),
        ("variants/better/variant.yaml", "something special", "something else"),
        ("variants/better/variant.yaml", "early_retrans: 3", "early_retrans: 0"),
    ],
)
def test_what_no_kernel_depends_on_makes_none_stale(project, file, old, new):
    build(project)
    replace(project / "kernels" / file, old, new)
    assert kernel(project).is_current()


def extend(project, name, extends):
    """A variant that differs from the one it extends in a sysctl."""
    folder = project / "kernels" / "variants" / name
    folder.mkdir()
    text = f"name: {name}\ntitle: x\nsource: x\nextends: {extends}\nsysctls:\n  net.mptcp.stale_loss_cnt: 7\n"
    (folder / "variant.yaml").write_text(text)


def test_variants_that_differ_in_sysctls_share_a_kernel(project):
    extend(project, "best", "better")
    extend(project, "very-best", "best")
    extend(project, "simple", "plain")
    build(project)
    assert {name: kernel(project, name).name for name in ("plain", "simple", "better", "best", "very-best")} == {
        "plain": "mainline",
        "simple": "mainline",
        "better": "better",
        "best": "better",
        "very-best": "better",
    }
    assert kernel(project, "very-best") == kernel(project)
    assert kernel(project, "very-best").is_current()
    assert not kernel(project, "simple").is_current()


def test_each_kernel_is_listed_once_with_all_whose_it_is(project):
    patched(project)
    extend(project, "best", "better")
    variants = [load_variant(Catalogue(project), name) for name in ("best", "plain", "better")]
    groups = [
        (one.name, [variant.name for variant in group]) for one, group in group_by_kernel(project, variants, "uml")
    ]
    assert groups == [("better", ["best", "better"]), ("plain", ["plain"])]


def test_the_same_patches_under_another_name_are_a_kernel_of_its_own(project):
    """`uname -r` tells it from the other."""
    before = kernel(project).inputs
    folder = project / "kernels" / "variants" / "better"
    shutil.copytree(folder, folder.with_name("worse"))
    replace(folder.with_name("worse") / "variant.yaml", "name: better", "name: worse")
    assert [patch.path.read_bytes() for patch in kernel(project, "worse").own] == [
        patch.path.read_bytes() for patch in kernel(project).own
    ]
    assert kernel(project, "worse").inputs != before


def test_mainline_has_no_patches(project):
    folder = project / "kernels" / "variants"
    (folder / "better").rename(folder / "mainline")
    replace(folder / "mainline" / "variant.yaml", "name: better", "name: mainline")
    with pytest.raises(Complaints, match=r"mainline/series: mainline is the kernel without a variant's patches"):
        kernel(project, "mainline")


def test_a_variant_does_not_change_the_base(project):
    build(project)
    assert "of 0001-better" not in (find_base(project, "uml").folder / "tree" / "main.c").read_text()
    assert "of 0001-better" not in (build(project, "plain") / "linux").read_text()


def test_a_patch_that_does_not_apply_names_file_hunk_and_versions(project):
    write_patch(project / "kernels" / "variants" / "better" / "0001-better.patch", 27, context="other")
    with pytest.raises(Complaints) as caught:
        build(project)
    assert caught.value.code == Exit.FAILED
    assert str(caught.value) == (
        "kernels/variants/better/0001-better.patch: hunk 1 does not apply to main.c near line 24 "
        "(the source is 0.1.7, the patches were made for 0.1.2)"
    )
    assert_nothing_is_left(project)


def test_code_that_does_not_compile_is_shown(project):
    replace(project / "kernels" / "variants" / "better" / "0001-better.patch", "of 0001", "is BROKEN, 0001")
    with pytest.raises(Complaints) as caught:
        build(project)
    assert caught.value.code == Exit.FAILED
    command, *lines = str(caught.value).splitlines()
    assert command.startswith("make ARCH=um ")
    assert "    line 27 is BROKEN, 0001-better" in lines
    assert lines[-1] == "    all of it is in build/logs/x.log"
    assert_nothing_is_left(project)


def test_an_option_that_gets_lost_fails_the_base(project):
    replace(project / "kernels" / "config" / "common.config", "CONFIG_A=y", "CONFIG_NEEDS_MORE=y")
    with pytest.raises(Complaints, match=r"kernels/config/common.config:1: asks for CONFIG_NEEDS_MORE=y, but it is n"):
        build(project)
    assert not find_base(project, "uml").is_current()
    assert_nothing_is_left(project)


def test_a_kernel_is_not_made_from_a_stale_base(project):
    build(project, "plain")
    replace(project / "kernels" / "patches" / "0001-all.patch", "of 0001", "of number 1")
    with (
        pytest.raises(Complaints, match=r"build/base/uml: is missing or out of date"),
        (project / "log").open("w") as log,
    ):
        kernel(project).build(log)


def test_an_unknown_backend_and_missing_files_are_bad_input(project):
    with pytest.raises(Complaints, match="no kernels are built for 'xen'") as caught:
        kernel(project, "better", "xen")
    assert caught.value.code == Exit.BAD_INPUT
    (project / "kernels" / "config" / "uml.config").unlink()
    with pytest.raises(Complaints, match=r"kernels/config/uml.config: cannot be read") as caught:
        kernel(project).is_current()
    assert caught.value.code == Exit.BAD_INPUT


def step(project, *arguments):
    command = [sys.executable, "-m", "pathwarp.prepare.steps", f"--root={project}", *arguments]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout, result.stderr


def test_the_steps_that_the_playbooks_call(project):
    assert step(project, "base", "uml") == (0, "built\n", "")
    assert step(project, "base", "uml") == (0, "is up to date\n", "")
    listed = '[{"name": "better", "variants": ["better"]}, {"name": "mainline", "variants": ["plain"]}]\n'
    assert step(project, "list-kernels", "uml", "better,plain") == (0, listed, "")
    assert step(project, "list-kernels", "uml", "all") == (0, listed, "")
    assert step(project, "kernel", "uml", "better") == (0, "built\n", "")
    assert step(project, "kernel", "uml", "better") == (0, "is up to date\n", "")
    write_patch(project / "kernels" / "variants" / "better" / "0001-better.patch", 27, context="other")
    status, _, said = step(project, "kernel", "uml", "better")
    assert (status, said.splitlines()[0][:40]) == (1, "kernels/variants/better/0001-better.patc")
    status, _, said = step(project, "kernel", "uml", "none")
    assert (status, said.splitlines()[0]) == (2, "variant: unknown variant 'none'")
    shutil.rmtree(project / "build" / "downloads")
    shutil.rmtree(project / "build" / "base")
    assert step(project, "base", "uml")[0] == 1


def test_a_killed_build_leaves_nothing_that_looks_whole(project):
    folder = build(project)
    shutil.move(folder, project / "build" / "work" / "kernel-better.killed")
    assert not kernel(project).is_current()
    build(project)
    assert kernel(project).is_current()


@pytest.fixture
def tests_of_their_own(project):
    """A backend whose base begins as a copy of another one's, with options, files and a patch more."""
    kernels = project / "kernels"
    with (kernels / "base.yaml").open("a") as base:
        base.write("  more: {on: uml, arch: um, binary: linux, config: [more], unpack: [later]}\n")
    (kernels / "config" / "more.config").write_text("CONFIG_C=y\n")
    (kernels / "needed").mkdir()
    (kernels / "needed" / "later.txt").write_text("linux-source-0.1/unneeded\n")
    write_patch(kernels / "patches" / "0003-more.patch", 20)
    with (kernels / "patches" / "series").open("a") as series:
        series.write("0003-more.patch # more\n")
    return project


def test_a_base_on_another_one(tests_of_their_own):
    project = tests_of_their_own
    binary = (build(project).parent / "uml" / "linux").read_text()
    assert "0003-more" not in binary
    assert "CONFIG_C=y" not in binary
    more = build(project, backend="more")
    binary = (more / "linux").read_text()
    for line in ("line 3 of 0001-all\n", "line 9 of 0002-only\n", "line 20 of 0003-more\n", "line 27 of 0001-better\n"):
        assert line in binary
    assert "CONFIG_A=y\n" in binary
    assert "CONFIG_C=y\n" in binary
    assert (find_base(project, "more").folder / "tree" / "unneeded" / "huge.c").exists()
    assert not (find_base(project, "uml").folder / "tree" / "unneeded" / "huge.c").exists()


def test_a_base_is_as_current_as_the_one_below(tests_of_their_own):
    project = tests_of_their_own
    build(project)
    build(project, backend="more")
    assert find_base(project, "more").is_current()
    replace(project / "kernels" / "config" / "uml.config", "CONFIG_B", "CONFIG_X")
    assert not find_base(project, "more").is_current()
    with (project / "build" / "logs" / "x.log").open("w") as log, pytest.raises(Complaints) as caught:
        find_base(project, "more").build(log)
    assert "build/base/uml: is missing or out of date" in str(caught.value)


def test_a_base_on_what_is_none(project):
    replace(project / "kernels" / "base.yaml", "uml: {", "uml: {on: vn, ")
    with pytest.raises(Complaints, match="has uml on what is no base of its own") as caught:
        find_base(project, "uml")
    assert "on: vm" in str(caught.value)


@pytest.fixture
def own_source(project):
    """A user's own source: that of the project with a line more, built in already."""
    folder = project / "source" / "linux-source-0.1"
    for name in ("Kbuild", "arch/um/Makefile"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    with (folder / "Makefile").open("a") as makefile:
        makefile.write("mrproper:\n\trm -f built.o\n# VERSION = 0\nVERSION = 0\nPATCHLEVEL = 1\nSUBLEVEL = 8\n")
    (folder / "built.o").touch()
    replace(folder / "main.c", "line 30\n", "line 30\nmine\n")
    return folder


def build_from(project, folder, name="better"):
    source = read_kernel_tree(folder)
    with (project / "build" / "logs" / "x.log").open("w") as log:
        base = find_base(project, "uml", source)
        if not base.is_current():
            base.build(log)
        find_kernel(project, load_variant(Catalogue(project), name), "uml", source).build(log)
    return find_kernel(project, load_variant(Catalogue(project), name), "uml", source)


@pytest.fixture
def logs(project):
    (project / "build" / "logs").mkdir()


def test_a_users_own_source(project, own_source, logs):
    made = build_from(project, own_source)
    assert made.folder.parents[3] == project / "build" / "trees"
    binary = (made.folder / "linux").read_text()
    for line in ("mine\n", "line 3 of 0001-all\n", "line 9 of 0002-only\n", "line 27 of 0001-better\n"):
        assert line in binary
    assert made.record["source"] == {"folder": own_source.name, "version": "0.1.7", "sha256": made.base.source.sha256}
    assert not (made.base.folder / "tree" / "built.o").exists()
    assert made.base.left_out == []
    assert made.is_current()
    (own_source / "main.c").write_text("other\n")
    assert not find_base(project, "uml", read_kernel_tree(own_source)).is_current()


def test_patches_that_a_source_has_and_those_that_it_can_do_without(project, own_source, logs):
    replace(project / "kernels" / "patches" / "series", "0002-only.patch # uml", "0002-only.patch # uml, if it fits")
    replace(own_source / "main.c", "line 3\n", "line 3 of 0001-all\n")
    replace(own_source / "main.c", "line 9\n", "line nine\n")
    made = build_from(project, own_source)
    assert made.base.left_out == [
        "kernels/patches/0001-all.patch: is in the source already",
        "kernels/patches/0002-only.patch: hunk 1 does not apply to main.c near line 6",
    ]
    assert "line 27 of 0001-better\n" in (made.folder / "linux").read_text()


def test_a_patch_that_a_source_can_not_do_without(project, own_source, logs):
    replace(own_source / "main.c", "line 3\n", "line three\n")
    with pytest.raises(Complaints) as caught:
        build_from(project, own_source)
    assert caught.value.code == Exit.FAILED
    assert "kernels/patches/0001-all.patch: hunk 1 does not apply to main.c near line 1 (the source is 0.1.7" in str(
        caught.value
    )
    assert list((project / "build" / "work").iterdir()) == []
    assert not (project / "build" / "trees").exists()


def test_a_source_that_does_not_compile(project, own_source, logs):
    replace(own_source / "main.c", "mine\n", "BROKEN\n")
    with pytest.raises(Complaints, match="failed with exit status 2") as caught:
        build_from(project, own_source)
    assert caught.value.code == Exit.FAILED
    assert not (project / "build" / "trees").exists()


def test_options_that_a_source_lacks_are_said(project, own_source, logs):
    with (project / "kernels" / "config" / "uml.config").open("a") as config:
        config.write("CONFIG_NONE=y\n")
    (said,) = build_from(project, own_source).base.left_out
    assert said == "kernels/config/uml.config:2: asks for CONFIG_NONE=y, but it is n"
