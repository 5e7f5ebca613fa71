# SPDX-License-Identifier: Apache-2.0
"""The lab root: its last steps, and whether the one there is good."""

import os
import subprocess
from pathlib import Path

import pytest

from pathwarp.base.complaints import Complaints, Exit
from pathwarp.prepare.lab import finish, is_current, lab_root, read_lab
from pathwarp.prepare.recipe import read_lab_recipe

ROOT = Path(__file__).parents[2]

RECIPE = """\
suite: bookworm
packages: [mininet, d-itg]
leave-out: [/usr/share/doc/*]
folders: [/opt/pathwarp, /proc]
needs: [/usr/bin/ITGSend, /usr/bin/python3]
"""

STATUS = """\
Package: d-itg
Status: install ok installed
Architecture: amd64
Version: 2.8.1-r1023-6
Maintainer: x
Description: x

Package: mininet
Status: install ok installed
Architecture: amd64
Version: 2.3.0-1
Maintainer: x
Description: x
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "vms").mkdir()
    (tmp_path / "vms" / "lab.yaml").write_text(RECIPE)
    return tmp_path


def make_root(project):
    """What mmdebstrap leaves, as far as it matters here."""
    made = project / "build" / "work" / "lab.x" / "lab"
    root = made / "root"
    for folder in ("etc", "usr/bin", "proc", "var/lib/dpkg/info", "var/lib/dpkg/updates"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "etc" / "hostname").write_text("of the host\n")
    (root / "usr" / "bin" / "ITGSend").touch()
    os.symlink("/nowhere/python3", root / "usr" / "bin" / "python3")
    (root / "var" / "lib" / "dpkg" / "status").write_text(STATUS)
    return made


def test_a_finished_lab_root(project):
    assert not is_current(project)
    finish(project, make_root(project))
    assert is_current(project)
    assert (lab_root(project) / "opt" / "pathwarp").is_dir()
    assert list((lab_root(project) / "etc").iterdir()) == []
    lab = read_lab(project)
    assert lab["packages"] == {"d-itg": "2.8.1-r1023-6", "mininet": "2.3.0-1"}
    assert lab["suite"] == "bookworm"
    assert len(lab["packages_sha256"]) == 64


def test_each_missing_program_is_named_and_nothing_put_in_place(project):
    made = make_root(project)
    (made / "root" / "usr" / "bin" / "ITGSend").unlink()
    (made / "root" / "usr" / "bin" / "python3").unlink()
    with pytest.raises(Complaints) as caught:
        finish(project, made)
    assert caught.value.code == Exit.FAILED
    assert [complaint.what for complaint in caught.value.complaints] == [
        "/usr/bin/ITGSend is missing",
        "/usr/bin/python3 is missing",
    ]
    assert "vms/lab.yaml lists those to install" in str(caught.value)
    assert not (project / "build" / "lab").exists()


def test_a_lab_root_that_lost_a_program_is_not_current(project):
    finish(project, make_root(project))
    (lab_root(project) / "usr" / "bin" / "ITGSend").unlink()
    assert not is_current(project)


@pytest.mark.parametrize(
    ("old", "new", "current"),
    [
        ("d-itg]", "d-itg, iperf3]", False),
        ("bookworm", "trixie", False),
        ("doc/*", "man/*", False),
        ("suite:", "# a comment\nsuite:", True),
    ],
)
def test_only_what_the_recipe_says_counts(project, old, new, current):
    finish(project, make_root(project))
    recipe = project / "vms" / "lab.yaml"
    recipe.write_text(recipe.read_text().replace(old, new))
    assert is_current(project) == current


def test_a_bad_recipe_is_bad_input(project):
    (project / "vms" / "lab.yaml").write_text(
        RECIPE.replace("suite: bookworm", "suit: bookworm").replace("/proc", "proc")
    )
    with pytest.raises(Complaints) as caught:
        is_current(project)
    assert caught.value.code == Exit.BAD_INPUT
    assert {complaint.where.rpartition(" ")[2] for complaint in caught.value.complaints} == {
        "suit",
        "suite",
        "folders.1",
    }


def test_the_projects_own_recipe_asks_for_what_the_guest_runs():
    needs = {Path(path).name for path in read_lab_recipe(ROOT).needs}
    assert {"ITGSend", "ITGRecv", "ITGDec", "mptcpize", "tcpdump", "mnexec", "ip", "tc", "ss", "ethtool"} <= needs


def test_checking_takes_no_time(project):
    finish(project, make_root(project))
    program = "import sys, pathlib; from pathwarp.prepare import lab; lab.is_current(pathlib.Path(sys.argv[1]))"
    program += "; sys.exit(bool({'numpy', 'scipy', 'matplotlib', 'ansible'} & set(sys.modules)))"
    assert subprocess.run([os.sys.executable, "-c", program, project], cwd=ROOT, check=False).returncode == 0
