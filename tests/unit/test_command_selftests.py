# SPDX-License-Identifier: Apache-2.0
"""`selftests`: what is wrong with its options, all at once and before anything is built."""

import json

import pytest
from golden_project import copy_project

from pathwarp.base.complaints import BadValue, Exit
from pathwarp.cli import main
from pathwarp.plan.selftest import Noise
from pathwarp.prepare import prepare
from pathwarp.prepare.programs import Programs


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project whose programs are up to date, and in which nothing may be built."""
    root = copy_project(tmp_path / "project")
    made = root / "build" / "programs"
    made.mkdir(parents=True)
    tests = [{"name": name, "folder": "net/mptcp", "file": f"{name}.sh"} for name in ("simult_flows", "diag")]
    (made / "programs.json").write_text(json.dumps({"format": 1, "tests": tests}))
    monkeypatch.setattr(Programs, "is_current", lambda self: True)
    monkeypatch.setattr(prepare, "_run_playbook", lambda *_: pytest.fail("nothing is to be built"))
    return root


def call(project, *words):
    return main(["--root", str(project), "selftests", *words])


def test_all_that_is_wrong_at_once(project, capsys):
    words = ["--variant", "none", "--seeds", "0", "--seed", "x", "--time", "slow", "--noise", "5", "--jobs", "1000"]
    assert call(project, *words, "--case", "1") == Exit.BAD_INPUT
    said = capsys.readouterr().err
    for place in ("seeds:", "seed:", "jobs:", "time:", "noise:", "case:", "none"):
        assert place in said
    assert "7 faults" in said or "8 faults" in said


def test_a_test_that_there_is_not(project, capsys):
    assert call(project, "--variant", "plain", "--tests", "simult_flow,diag,x") == Exit.BAD_INPUT
    said = capsys.readouterr().err
    assert (
        "tests: there is no test 'simult_flow'\n    valid: simult_flows, diag\n    did you mean simult_flows?" in said
    )
    assert "there is no test 'x'" in said


@pytest.mark.parametrize(
    ("text", "parameter"),
    [
        ("5 ms", "um.noise=3:100:1000:5000000:"),
        ("20us,1in7", "um.noise=3:7:1000:20000:"),
        ("1 s, 1in20, mptcp_connect+ip", "um.noise=3:20:1000:1000000000:mptcp_connect,ip"),
        ("1.5 ms,tcpdump", "um.noise=3:100:1000:1500000:tcpdump"),
    ],
)
def test_noise(text, parameter):
    assert Noise.read(text).parameter(3) == parameter
    assert Noise.read(str(Noise.read(text))) == Noise.read(text)


@pytest.mark.parametrize("text", ["", "5", "1 us", "5 s", "5 ms,1in0", "5 ms,ip;reboot", "5 ms,a+b c", "-5 ms"])
def test_what_is_no_noise(text):
    with pytest.raises(BadValue):
        Noise.read(text)
