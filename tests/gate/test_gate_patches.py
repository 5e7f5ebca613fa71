# SPDX-License-Identifier: Apache-2.0
"""checkpatch.pl, of the kernel's own source, has nothing to say about any patch."""

import pytest
from tools import ROOT, judge

PATCHES = sorted((ROOT / "kernels").rglob("*.patch"))
TREE = ROOT / "build" / "base" / "uml" / "tree"
CHECK = ("perl", str(TREE / "scripts" / "checkpatch.pl"), "--strict", "--no-tree", "--quiet", "--show-types")


def test_there_are_patches():
    assert len(PATCHES) > 10


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: "/".join(patch.parts[-2:]))
def test_checkpatch_is_content(patch):
    assert judge([*CHECK, patch]) == (0, "")


def test_checkpatch_finds_what_is_planted(tmp_path):
    text = PATCHES[0].read_text()
    line = next(line for line in text.splitlines() if line.startswith("+") and not line.startswith("+++"))
    patch = tmp_path / "x.patch"
    patch.write_text(text.replace(f"{line}\n", f"{line}   \n", 1))
    status, said = judge([*CHECK, patch])
    assert status == 1, said
    assert "ERROR:TRAILING_WHITESPACE" in said
