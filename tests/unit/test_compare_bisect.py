# SPDX-License-Identifier: Apache-2.0
"""The search for a commit: over a history of a few files that looks like a kernel's."""

import subprocess
from math import inf

import pytest
from golden_project import copy_project
from kernel_project import make_project

from pathwarp.base.complaints import Complaints, Exit
from pathwarp.cli import main
from pathwarp.compare.bisect.history import BAD, GOOD, SKIP, Range, cloned
from pathwarp.compare.bisect.judges import Observation
from pathwarp.compare.bisect.search import bisect, judge_number
from pathwarp.prepare.stamp import write_stamp

FILES = ("Kbuild", "arch/um/Makefile", "scripts/kconfig/merge_config.sh", "net/mptcp/pm.c")
WHO = ("-c", "user.name=A. Author", "-c", "user.email=author@example.org", "-c", "commit.gpgsign=false")


def git(folder, *words):
    done = subprocess.run(["git", *WHO, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def linux(tmp_path):
    """Nine commits, of which the sixth makes a delay of 900 of 40."""
    folder = tmp_path / "linux"
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{name}\n")
    (folder / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 1\n")
    git(folder, "init", "--quiet", "--initial-branch=main")
    for number in range(1, 10):
        (folder / "delay").write_text("900\n" if number > 5 else "40\n")
        (folder / "number").write_text(f"{number}\n")
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", f"--message=commit {number}")
    return folder


@pytest.fixture
def said():
    return []


class Reader:
    """Observes the number in a file, and leaves a folder as a built kernel does."""

    kernels = "uml"

    def __init__(self, root, broken=(), without=(), trouble=None):
        self.root = root
        self.broken = broken
        self.without = without
        self.trouble = trouble or Complaints.one("make ARCH=um", "failed with exit status 2\nwhy", code=Exit.FAILED)
        self.seen = []

    def begin(self, bad):
        self.bad = bad

    def observe(self, source):
        number = int((source.folder / "number").read_text())
        self.seen.append(number)
        made = self.root / "build" / "trees" / source.name / "base" / "uml"
        made.mkdir(parents=True, exist_ok=True)
        if number in self.broken:
            raise self.trouble
        left_out = ["kernels/patches/0001-all.patch: hunk 1 does not apply"] if number in self.without else []
        left_out += ["kernels/patches/0002-only.patch: is in the source already"] if number % 2 else []
        write_stamp(made / "base.json", {"left_out": left_out})
        value = int((source.folder / "delay").read_text())
        return Observation(value, f"delay {value}")


@pytest.fixture
def root(tmp_path):
    return make_project(tmp_path / "project")


def search(root, linux, said, good="main~8", bad="main", **reader):
    judge = Reader(root, **reader)
    bisect(root, Range.read(linux, good, bad), judge, said.append)
    return judge


def test_the_commit_is_found(root, linux, said):
    (root / "build" / "trees" / "mine").mkdir(parents=True)
    state = git(linux, "status", "--porcelain=v2", "--branch")
    judge = search(root, linux, said)
    assert judge.seen == [9, 1, 5, 7, 6]
    commit = git(linux, "rev-parse", "main~3")
    assert said[:2] == [
        f" bad  {commit_title(linux, 'main')}: delay 900",
        f"good  {commit_title(linux, 'main~8')}: delay 40",
    ]
    lines = said[-1].splitlines()
    assert lines[1:5] == [
        "the first bad commit:",
        f"    {commit}",
        f"    A. Author <author@example.org>, {git(linux, 'log', '-1', '--format=%ad', '--date=short', commit)}",
        "    commit 6",
    ]
    assert any("delay" in line for line in lines[5:])
    # The checkout is as it was, and nothing is left but what was there before.
    assert git(linux, "status", "--porcelain=v2", "--branch") == state
    assert not (linux / ".git" / "BISECT_LOG").exists()
    assert [path.name for path in (root / "build" / "trees").iterdir()] == ["mine"]
    assert [path.name for path in (root / "build" / "bisect").iterdir()] == ["lock"]


def commit_title(folder, revision):
    return git(folder, "log", "-1", "--format=%h %s", revision)


def test_a_commit_that_cannot_be_built_is_skipped(root, linux, said):
    judge = search(root, linux, said, broken=(7,))
    assert 7 in judge.seen
    assert f"skip  {commit_title(linux, 'main~2')}: make ARCH=um: failed with exit status 2\n      why" in said
    assert "    commit 6" in said[-1].splitlines()


def test_when_all_that_is_left_cannot_be_built(root, linux, said):
    with pytest.raises(Complaints, match="the commit isn't found") as caught:
        search(root, linux, said, broken=(5, 6))
    assert caught.value.code == Exit.FAILED
    assert git(linux, "rev-parse", "main~3") in str(caught.value)


def test_ends_that_show_the_same(root, linux, said):
    with pytest.raises(Complaints, match="both ends show the same: delay 900"):
        search(root, linux, said, good="main~2")
    assert [path.name for path in (root / "build" / "bisect").iterdir()] == ["lock"]


def test_what_is_no_range(tmp_path, linux):
    for folder, what in ((tmp_path, "is no git checkout: fatal: "), (tmp_path / "none", "there is no folder"),
                         (linux / "net", f"is a part of the checkout {linux}")):  # fmt: skip
        with pytest.raises(Complaints, match=what):
            Range.read(folder, "main~1", "main")
    git(tmp_path, "clone", "--quiet", "--depth=3", f"file://{linux}", "shallow")
    with pytest.raises(Complaints, match="is shallow"):
        Range.read(tmp_path / "shallow", "main~1", "main")
    with pytest.raises(Complaints) as caught:
        Range.read(linux, "none", "--help")
    assert [complaint.where for complaint in caught.value.complaints] == ["good", "bad"]
    for good in ("main", "main~1"):
        with pytest.raises(Complaints, match="is no ancestor of"):
            Range.read(linux, good, "main~1")


def test_what_a_killed_search_left_is_cleared_away(tmp_path, linux):
    place = tmp_path / "place"
    (place / "tmpkilled").mkdir(parents=True)
    with cloned(Range.read(linux, "main~1", "main"), place) as history:
        history.checkout("main~1")
        assert (history.folder / "number").read_text() == "8\n"
        assert not (place / "tmpkilled").exists()


@pytest.mark.parametrize(
    ("value", "good", "bad", "answer"),
    [(60, 40, 900, GOOD), (800, 40, 900, BAD), (60, 900, 40, BAD), (inf, 40, inf, BAD), (9e9, 40, inf, GOOD),
     (inf, inf, 40, GOOD), (900, inf, 40, BAD), (inf, 40, 900, SKIP)],
)  # fmt: skip
def test_which_end_a_number_is_nearer_to(value, good, bad, answer):
    assert judge_number(value, good, bad) == answer


def test_the_same_trouble_again_and_again_is_not_the_commits_fault(root, linux, said):
    with pytest.raises(Complaints, match="failed with exit status 2"):
        search(root, linux, said, broken=(2, 3, 4, 5, 6, 7, 8))
    assert sum(line.startswith("skip") for line in said) == 4


def test_bad_input_is_no_commits_fault(root, linux, said):
    with pytest.raises(Complaints, match="unknown variant"):
        search(root, linux, said, broken=(5,), trouble=Complaints.one("variant", "unknown variant"))


def test_other_patches_are_said(root, linux, said):
    search(root, linux, said, without=(5, 6))
    (line,) = [line for line in said if "commit 5" in line]
    words = "which of our patches it has is not as at the bad end: kernels/patches/0001-all.patch"
    assert line.splitlines()[1:] == [f"      {words}"]
    assert sum(words in line for line in said) == 2


def test_what_a_killed_search_made_is_cleared_away(root, linux, said):
    killed = root / "build" / "trees" / "6.12.1-00000000"
    killed.mkdir(parents=True)
    (root / "build" / "bisect").mkdir(parents=True)
    (root / "build" / "bisect" / "made").write_text("6.12.1-00000000\n")
    search(root, linux, said)
    assert not killed.exists()
    assert [path.name for path in (root / "build" / "bisect").iterdir()] == ["lock"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), ["tree: is needed", "good: is needed", "bad: is needed", "test: what is to be observed?"]),
        (("--test=x", "--scenario=y"), ["test: what is to be observed?"]),
        (("--test=x", "--metric=y", "--traffic=docs"), ["metric: is for a scenario", "traffic: is for a scenario"]),
        (("--scenario=x", "--case=1", "--noise=5 ms"), ["case: is for a test", "noise: is for a test"]),
        (("--test=x", "--kernel=."), ["kernel: has no meaning here"]),
    ],
)
def test_options_that_do_not_go_together(capsys, tmp_path, words, said):
    copy_project(tmp_path / "project")
    assert main(["--root", str(tmp_path / "project"), "bisect", *words]) == Exit.BAD_INPUT
    errors = capsys.readouterr().err
    assert all(line in errors for line in said), errors


def test_all_that_is_wrong_with_a_scenario_at_once(capsys, tmp_path, linux):
    copy_project(tmp_path / "project")
    words = ["bisect", f"--tree={linux}", "--good=none", "--bad=main", "--scenario=small", "--metric=speed", "--runs=x"]
    assert main(["--root", str(tmp_path / "project"), *words]) == Exit.BAD_INPUT
    errors = capsys.readouterr().err
    for line in ("good: 'none' is no revision of ", "metric: unknown metric 'speed'", "runs: 'x' is not a number"):
        assert line in errors, errors


def test_all_that_is_wrong_with_a_test_at_once(capsys, tmp_path, linux):
    copy_project(tmp_path / "project")
    words = ["bisect", f"--tree={linux}", "--good=main", "--bad=main", "--test=x", "--case=0", "--variant=plain,better"]
    assert main(["--root", str(tmp_path / "project"), *words, "--noise=5"]) == Exit.BAD_INPUT
    errors = capsys.readouterr().err
    for line in (
        "good: 'main' is no ancestor of 'main'",
        "case: '0' is not",
        "variant: one kernel",
        "noise: '5' is no",
    ):
        assert line in errors, errors
