# SPDX-License-Identifier: Apache-2.0
"""`bisect` over a history of the kernel with a fault planted in it: real kernels, real guests."""

import shutil
import subprocess

import pytest
from project_folder import ROOT, Project

from pathwarp.prepare.adopt import read_sources

BASE = ROOT / "build" / "base" / "uml"
PROTOCOL = "net/mptcp/protocol.c"
WHO = ("-c", "user.name=A. Author", "-c", "user.email=author@example.org", "-c", "commit.gpgsign=false")
# How long MPTCP waits before it sends data again on another subflow.
TIMER, SLOWER = "jiffies + tout);", "jiffies + 3 * tout);"


def git(folder, *words):
    done = subprocess.run(["git", *WHO, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def change(folder, file, old, new, subject):
    path = folder / file
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    git(folder, "commit", "--quiet", "--all", f"--message={subject}")


@pytest.fixture(scope="module")
def linux(tmp_path_factory):
    """The source of the base kernel, our patches in it, with four commits more."""
    folder = tmp_path_factory.mktemp("history") / "linux"
    sources = read_sources(BASE / "sources.txt")
    assert sources, "the base was built by an older version: make clean"
    for name in sources:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(BASE / "tree" / name, folder / name, follow_symlinks=False)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--message=source")
    head = "// SPDX-License-Identifier: GPL-2.0\n"
    change(folder, "net/mptcp/token.c", head, f"{head}/* a remark */\n", "mptcp: a remark")
    change(folder, PROTOCOL, TIMER, SLOWER, "mptcp: give the peer more time")
    change(folder, "net/mptcp/ctrl.c", head, f"{head}/* a remark */\n", "mptcp: another remark")
    return folder


def test_a_planted_fault_is_found(tmp_path, make_project, linux):
    project = Project(make_project(tmp_path / "project", ROOT))
    words = [f"--tree={linux}", "--good=main~3", "--bad=main", "--scenario=path-failure", "--variant=mainline"]
    status, output, errors = project.call("bisect", *words, "--traffic=docs", "--jobs=1")
    assert status == 0, output + errors
    found = output[output.index("the first bad commit:") :].splitlines()
    assert found[1].strip() == git(linux, "rev-parse", "main~1")
    assert found[3].strip() == "mptcp: give the peer more time"
    states = [line.split()[0] for line in output.splitlines() if "affected burst completion time" in line]
    assert states[:2] == ["bad", "good"]
    assert sorted(states[2:]) == ["bad", "good"]
    # The kernels of commits that change nothing do the same to the byte.
    metrics = {line.rpartition("completion time")[2] for line in output.splitlines() if line.strip().startswith("good")}
    assert len(metrics) == 1
    assert not [path for path in (ROOT / "build" / "bisect").iterdir() if path.name != "lock"]
