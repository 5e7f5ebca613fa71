# SPDX-License-Identifier: Apache-2.0
"""What was compiled in another tree: make takes it for what it is, and compiles only what differs."""

import os
import subprocess

import pytest

from pathwarp.prepare.adopt import products, read_sources, shadows, take_times, write_sources

SOURCES = ("Makefile", "one.c", "two.c", "all.h")
MAKEFILE = """\
all: one.o two.o
%.o: %.c all.h
\tcat $< all.h >$@
\t@echo compiled $<
"""


def source(folder):
    folder.mkdir()
    (folder / "Makefile").write_text(MAKEFILE)
    for name in ("one.c", "two.c", "all.h"):
        (folder / name).write_text(f"{name}\n")
    return folder


def make(folder):
    """What was compiled."""
    done = subprocess.run(["make"], cwd=folder, check=True, capture_output=True, text=True)
    return [line.split()[1] for line in done.stdout.splitlines() if line.startswith("compiled")]


def adopt(tree, other, sources=SOURCES):
    take_times(tree, sources, other, SOURCES)
    for name in products(sources, other, SOURCES):
        subprocess.run(["cp", "--archive", other / name, tree / name], check=True)


@pytest.fixture
def trees(tmp_path):
    """A new tree, and another one that is compiled already."""
    other = source(tmp_path / "other")
    assert make(other) == ["one.c", "two.c"]
    (other / ".config").write_text("other\n")
    return source(tmp_path / "tree"), other


def test_equal_sources_are_not_compiled_again(trees):
    adopt(*trees)
    assert make(trees[0]) == []
    assert not (trees[0] / ".config").exists()


@pytest.mark.parametrize(("name", "compiled"), [("one.c", ["one.c"]), ("all.h", ["one.c", "two.c"])])
def test_changed_sources_are_compiled_however_old_they_are(trees, name, compiled):
    (trees[0] / name).write_text("other\n")
    os.utime(trees[0] / name, (0, 0))
    adopt(*trees)
    assert make(trees[0]) == compiled
    assert "other" in (trees[0] / "one.o").read_text()


def test_a_source_that_was_made_in_the_other_tree_stays(trees):
    (trees[0] / "one.o").write_text("ours\n")
    adopt(*trees, sources=(*SOURCES, "one.o"))
    assert (trees[0] / "one.o").read_text() == "ours\n"


def test_links_and_modes_are_part_of_a_source(trees):
    tree, other = trees
    for folder, aim in ((tree, "one.c"), (other, "two.c")):
        (folder / "link").symlink_to(aim)
        (folder / "same").symlink_to("all.h")
    os.utime(other / "same", (7, 7), follow_symlinks=False)
    (tree / "two.c").chmod(0o755)
    names = (*SOURCES, "link", "same")
    before = {name: os.lstat(other / name).st_mtime_ns for name in names}
    take_times(tree, names, other, names)
    equal = [name for name in names if os.lstat(tree / name).st_mtime_ns == before[name]]
    assert equal == ["Makefile", "one.c", "all.h", "same"]


def test_a_header_with_the_name_of_another_one(tmp_path):
    names = {"include/tcp.h", "net/tcp.c"}
    assert not shadows(names, names)
    assert not shadows(names | {"net/tcp.h"}, names | {"net/tcp.h"})
    assert not shadows(names | {"net/udp.h", "um/tcp.c"}, names)
    assert shadows(names | {"net/tcp.h"}, names)


def test_the_list_of_sources(tmp_path):
    assert read_sources(tmp_path / "sources.txt") == frozenset()
    names = {"a b", "line\nend", "\udcff"}
    write_sources(tmp_path / "sources.txt", names)
    assert read_sources(tmp_path / "sources.txt") == names
