# SPDX-License-Identifier: Apache-2.0
"""The final kernel configuration against its fragments."""

import pytest

from pathwarp.base.complaints import Complaints, Exit
from pathwarp.prepare.kconfig import check_config, known_options, read_config

FINAL = 'CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_HZ=1000\nCONFIG_CON_CHAN="null"\n'


@pytest.fixture
def check(tmp_path):
    tree = tmp_path / "tree"
    (tree / "net").mkdir(parents=True)
    (tree / "Kconfig").write_text("config A\n\tbool\nmenuconfig B\nconfig HZ\n")
    (tree / "net" / "Kconfig.deep").write_text("  config MPTCP\n")
    (tree / ".config").write_text(FINAL)

    def run(*fragments):
        paths = []
        for number, text in enumerate(fragments):
            paths.append(tmp_path / f"{number}.config")
            paths[-1].write_text(text)
        check_config(tree / ".config", paths, tmp_path)

    return run


def test_reading(tmp_path):
    (tmp_path / "x").write_text(f"# a comment\n\n{FINAL}CONFIG_A=m\n")
    assert read_config(tmp_path / "x") == {
        "CONFIG_A": ("m", 7),
        "CONFIG_B": ("n", 4),
        "CONFIG_HZ": ("1000", 5),
        "CONFIG_CON_CHAN": ('"null"', 6),
    }


def test_all_as_asked_for(check):
    check('CONFIG_A=y\nCONFIG_B=n\n# CONFIG_C is not set\nCONFIG_CON_CHAN="null"\n', "CONFIG_HZ=1000\n")


def test_a_later_fragment_wins(check):
    check("CONFIG_HZ=100\nCONFIG_A=n\n", "CONFIG_HZ=1000\nCONFIG_A=y\n")


def test_every_option_that_is_missing_is_named(check):
    with pytest.raises(Complaints) as caught:
        check("CONFIG_A=y\nCONFIG_HZ=100\n", "CONFIG_MPTCP=y\nCONFIG_A=n\nCONFIG_NONE=y\n")
    assert caught.value.code == Exit.FAILED
    first, second, third, fourth = map(str, caught.value.complaints)
    assert first.startswith("1.config:2: asks for CONFIG_A=n, but it is y")
    assert second.startswith("0.config:2: asks for CONFIG_HZ=100, but it is 1000")
    assert third.startswith("1.config:1: asks for CONFIG_MPTCP=y, but it is n")
    assert "what it depends on is off" in third
    assert "this source has no such option" in fourth


def test_known_options(check, tmp_path):
    assert known_options(tmp_path / "tree") == {"A", "B", "HZ", "MPTCP"}
