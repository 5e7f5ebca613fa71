# SPDX-License-Identifier: Apache-2.0
"""A user's own source of the kernel: what belongs to it, and when it is another one."""

import subprocess

import pytest

from pathwarp.base.complaints import Complaints
from pathwarp.model.kerneltree import KernelTree, files_of, read_kernel_tree

MAKEFILE = "# SPDX\nVERSION = 6\nPATCHLEVEL = 18\nSUBLEVEL = 2\nEXTRAVERSION = -rc3\nNAME = x\n\nall:\n"


@pytest.fixture
def tree(tmp_path):
    folder = tmp_path / "linux"
    for name in ("Kbuild", "arch/um/Makefile", "scripts/kconfig/merge_config.sh", "net/mptcp/pm.c"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{name}\n")
    (folder / "Makefile").write_text(MAKEFILE)
    (folder / "link").symlink_to("Makefile")
    return folder


def git(folder, *words):
    subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x", *words], cwd=folder, check=True, capture_output=True
    )


def test_what_it_is(tree):
    read = read_kernel_tree(tree)
    assert read.version == "6.18.2-rc3"
    assert read.name == f"6.18.2-rc3-{read.sha256[:8]}"
    assert KernelTree.from_json(read.to_json()) == read


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "net/mptcp/pm.c").write_text("other\n"),
        lambda folder: (folder / "net/mptcp/pm.c").rename(folder / "net/mptcp/pn.c"),
        lambda folder: (folder / "Kbuild").chmod(0o755),
        lambda folder: (folder / "new").touch(),
        lambda folder: (folder / "net/mptcp/pm.c").unlink(),
        lambda folder: ((folder / "link").unlink(), (folder / "link").symlink_to("Kbuild")),
    ],
)
@pytest.mark.parametrize("checkout", [False, True])
def test_another_file_makes_another_source(tree, change, checkout):
    if checkout:
        git(tree, "init", "--quiet")
        git(tree, "add", "--all")
    before = read_kernel_tree(tree)
    assert read_kernel_tree(tree) == before
    change(tree)
    assert read_kernel_tree(tree).sha256 != before.sha256


def test_a_checkout_has_what_git_would_take(tree):
    everything = read_kernel_tree(tree)
    (tree / ".gitignore").write_text("*.o\n.gitignore\n")
    git(tree, "init", "--quiet")
    (tree / "net/mptcp/pm.o").touch()
    assert read_kernel_tree(tree) == everything
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "-m", "all")
    assert read_kernel_tree(tree) == everything
    assert "net/mptcp/pm.c" in files_of(tree)
    assert not any(name.startswith(".git") or name.endswith(".o") for name in files_of(tree))


def test_a_folder_that_is_no_source(tree, tmp_path):
    (tree / "Kbuild").unlink()
    with pytest.raises(Complaints, match=r"kernel: .* is no kernel's source: it has no Kbuild") as caught:
        read_kernel_tree(tree)
    assert "valid: a git checkout of Linux" in str(caught.value)
    for folder in (tmp_path / "none", tree / "Makefile", tmp_path / ("x" * 300)):
        with pytest.raises(Complaints, match="it has no Kbuild, no Makefile, no arch/um/Makefile"):
            read_kernel_tree(folder)
