# SPDX-License-Identifier: Apache-2.0
"""Ruff's and mypy's judgement of the code, and that they find a fault that is planted."""

import sys

import pytest
from tools import assert_content, judge, plant

CHECK = (sys.executable, "-m", "ruff", "check", "--no-cache", ".")
FORMAT = (sys.executable, "-m", "ruff", "format", "--no-cache", "--check", ".")
TYPES = (sys.executable, "-m", "mypy", "--no-color-output")

SAYS_NOTHING = "# SPDX-License-Identifier: Apache-2.0\n"
UNTYPED = "def double(number):\n    return number * 2\n"
# Only the strict packages' rules mind these.
BARE = "def names(table: dict) -> list[str]:\n    return list(table)\n"
FROM_ANY = "import json\n\n\ndef read(text: str) -> str:\n    return json.loads(text)\n"
MODEL = """\
from pydantic import BaseModel


class Box(BaseModel):
    width: int


BOX = Box(width="wide")
"""


def test_ruff_is_content():
    assert_content(CHECK)
    assert_content(FORMAT)


def test_ruff_finds_what_is_planted(tmp_path):
    plant(tmp_path, {"pathwarp/x.py": "import os\n", "tests/y.py": "x = { 1 : 2 }\n"})
    status, said = judge(CHECK, tmp_path)
    assert (status, "pathwarp/x.py:1:8" in said, "F401" in said) == (1, True, True), said
    status, said = judge(FORMAT, tmp_path)
    assert (status, "--> tests/y.py:1" in said) == (1, True), said


def test_mypy_is_content():
    assert_content(TYPES)


def test_mypy_finds_what_is_planted(tmp_path):
    planted = {
        "base/untyped.py": (UNTYPED, "no-untyped-def"),
        "base/bare.py": (BARE, "type-arg"),
        "model/bare.py": (BARE, "type-arg"),
        "plan/bare.py": (BARE, "type-arg"),
        "results/bare.py": (BARE, "type-arg"),
        "results/from_any.py": (FROM_ANY, "no-any-return"),
        "measure/untyped.py": (UNTYPED, "no-untyped-def"),
        "measure/bare.py": (BARE, None),
        "guest/stray.py": (UNTYPED, "no-untyped-def"),
        "model/box.py": (MODEL, "arg-type"),
    }
    packages = {f"pathwarp/{name.split('/')[0]}/__init__.py": SAYS_NOTHING for name in planted}
    plant(tmp_path, {**packages, **{f"pathwarp/{name}": text for name, (text, _) in planted.items()}})
    (tmp_path / "pathwarp" / "__init__.py").touch()
    status, said = judge(TYPES, tmp_path)
    assert status == 1, said
    for name, (_, code) in planted.items():
        found = [line for line in said.splitlines() if line.startswith(f"pathwarp/{name}:") and "error" in line]
        assert [line.endswith(f"[{code}]") for line in found] == ([True] if code else []), said


@pytest.mark.parametrize("name", ["pathwarp.present", "pathwarp.base"])
def test_mypy_looks_at_every_package(name):
    """A package that the settings don't reach would be found free of faults."""
    assert_content((*TYPES, "-p", name))
