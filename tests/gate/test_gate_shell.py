# SPDX-License-Identifier: Apache-2.0
"""ShellCheck's judgement of every shell script."""

from pathlib import Path

from tools import ROOT, assert_content, judge, own_files, plant

CHECK = ("shellcheck", "--norc", "--enable=quote-safe-variables,check-unassigned-uppercase")
# Run by another shell, so they don't say which themselves.
SOURCED = (Path("vms/box/etc/profile.d/lab.sh"),)


def scripts() -> list[Path]:
    found = []
    for file in own_files():
        with (ROOT / file).open("rb") as stream:
            first = stream.readline(80)
        if first.startswith(b"#!") and first.split()[-1].split(b"/")[-1] in (b"sh", b"bash"):
            found.append(file)
    return found


def test_no_script_is_left_out():
    assert {file for file in own_files() if file.suffix == ".sh"} <= {*scripts(), *SOURCED}
    assert Path(".ci/run") in scripts()


def test_shellcheck_is_content():
    assert_content([*CHECK, *scripts()])
    assert_content([*CHECK, "--shell=sh", *SOURCED])


def test_shellcheck_finds_what_is_planted(tmp_path):
    plant(tmp_path, {"x.sh": "#!/bin/sh\nrm $1\n"}, settings=())
    status, said = judge([*CHECK, "x.sh"], tmp_path)
    assert (status, "SC2086" in said) == (1, True), said
