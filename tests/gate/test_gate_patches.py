# SPDX-License-Identifier: Apache-2.0
"""checkpatch.pl, of the kernel's own source, has nothing to say about any patch."""

from itertools import pairwise

import pytest
from tools import ROOT, judge

PATCHES = sorted((ROOT / "kernels").rglob("*.patch"))
TREE = ROOT / "build" / "base" / "uml" / "tree"
CHECK = (
    *("perl", str(TREE / "scripts" / "checkpatch.pl"), "--strict", "--no-tree", "--quiet", "--show-types"),
    # It asks of each new file whether MAINTAINERS needs a line. Ours are all in folders that have one.
    "--ignore=FILE_PATH_CHANGES",
)
# What MAINTAINERS names with all that is below.
MAINTAINED = ("arch/um/", "include/net/", "net/mptcp/")


def test_there_are_patches():
    assert len(PATCHES) > 10


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: "/".join(patch.parts[-2:]))
def test_checkpatch_is_content(patch):
    assert judge([*CHECK, patch]) == (0, "")


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: "/".join(patch.parts[-2:]))
def test_a_new_file_is_where_somebody_maintains_it(patch):
    lines = patch.read_text().splitlines()
    new = [after.removeprefix("+++ b/") for before, after in pairwise(lines) if before == "--- /dev/null"]
    assert all(file.startswith(MAINTAINED) for file in new), new


def test_checkpatch_finds_what_is_planted(tmp_path):
    text = PATCHES[0].read_text()
    line = next(line for line in text.splitlines() if line.startswith("+") and not line.startswith("+++"))
    patch = tmp_path / "x.patch"
    patch.write_text(text.replace(f"{line}\n", f"{line}   \n", 1))
    status, said = judge([*CHECK, patch])
    assert status == 1, said
    assert "ERROR:TRAILING_WHITESPACE" in said
