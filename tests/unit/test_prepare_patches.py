# SPDX-License-Identifier: Apache-2.0
"""Series of patches, and the message about one that doesn't apply."""

import io

import pytest
from kernel_project import MAIN, write_patch

from pathwarp.base.complaints import Complaints, Exit
from pathwarp.prepare.patches import LONGEST_NAME, apply_patches, read_series, refusals

BACKENDS = ("uml", "vm")

# What GNU patch 2.7.6 said about a patch of two hunks, a missing file, and a file that is there already.
SAVED_OUTPUT = """\
patching file net/mptcp/protocol.c
Hunk #1 succeeded at 812 with fuzz 2 (offset 3 lines).
Hunk #2 FAILED at 931.
1 out of 2 hunks FAILED
can't find file to patch at input line 19
Perhaps you used the wrong -p or --strip option?
The text leading up to this was:
--------------------------
|--- a/net/mptcp/none.c
|+++ b/net/mptcp/none.c
--------------------------
No file to patch.  Skipping patch.
1 out of 1 hunk ignored
The next patch would create the file net/mptcp/sched_minrtt.c,
which already exists!  Applying it anyway.
patching file net/mptcp/sched_minrtt.c
Hunk #1 FAILED at 1.
1 out of 1 hunk FAILED
"""


@pytest.fixture
def tree(tmp_path):
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "main.c").write_text(MAIN)
    return folder


def write_series(tmp_path, text, *patches):
    for name in patches:
        (tmp_path / name).touch()
    (tmp_path / "series").write_text(text)


def names(tmp_path, backend):
    return [entry.path.name for entry in read_series(tmp_path, tmp_path, (backend,), BACKENDS)]


def complaints_of(tmp_path, text, *patches):
    write_series(tmp_path, text, *patches)
    with pytest.raises(Complaints) as caught:
        names(tmp_path, "uml")
    assert caught.value.code == Exit.BAD_INPUT
    return [str(complaint) for complaint in caught.value.complaints]


def test_order_comments_and_backends(tmp_path):
    text = "# first\n\nb.patch\n a.patch  # uml\nc.patch # vm\n"
    write_series(tmp_path, text, "a.patch", "b.patch", "c.patch", "d.patch")
    assert names(tmp_path, "uml") == ["b.patch", "a.patch"]
    assert names(tmp_path, "vm") == ["b.patch", "c.patch"]


def test_no_series_is_an_empty_one(tmp_path):
    assert names(tmp_path, "uml") == []


def test_all_complaints_of_a_series_at_once(tmp_path):
    text = "a.patch\n../b.patch\nc.patch\nd.txt\na.patch # xen\na.patch # uml vm\n"
    found = complaints_of(tmp_path, text, "a.patch", "d.txt")
    assert [complaint.split(":")[1] for complaint in found] == ["2", "3", "4", "5", "6"]
    assert "'../b.patch' names no patch" in found[0]
    assert "there is no file c.patch" in found[1]
    assert "a backend of uml, vm" in found[3]


def test_a_name_that_no_file_system_takes_is_a_complaint(tmp_path):
    longest, longer = (f"{'a' * length}.patch" for length in (LONGEST_NAME, LONGEST_NAME + 1))
    found = complaints_of(tmp_path, f"{longest}\n{longer}\n{'b' * 1000}.patch\n")
    assert [complaint.split(":")[1] for complaint in found] == ["1", "2", "3"]
    assert "there is no file" in found[0]
    assert all("names no patch" in complaint for complaint in found[1:])
    write_series(tmp_path, f"{longest}\n", longest)
    assert names(tmp_path, "uml") == [longest]


def test_a_series_that_is_no_text(tmp_path):
    (tmp_path / "series").write_bytes(b"\xff\xfe")
    with pytest.raises(Complaints, match="series: cannot be read"):
        names(tmp_path, "uml")


def test_what_patch_refuses_is_named_with_file_and_hunk():
    assert refusals(SAVED_OUTPUT) == [
        "hunk 2 does not apply to net/mptcp/protocol.c near line 931",
        "there is no file net/mptcp/none.c to change",
        "hunk 1 does not apply to net/mptcp/sched_minrtt.c near line 1",
    ]


def test_patches_apply_in_order_also_at_an_offset(tmp_path, tree):
    (tree / "main.c").write_text("new\n" * 5 + MAIN)
    for number in (4, 10):
        write_patch(tmp_path / f"{number}.patch", number)
    apply_patches([tmp_path / "4.patch", tmp_path / "10.patch"], tree, tmp_path, "this source", io.StringIO())
    assert "line 4 of 4\n" in (tree / "main.c").read_text()
    assert "line 10 of 10\n" in (tree / "main.c").read_text()
    assert [path.name for path in tree.iterdir()] == ["main.c"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "hunk 1 does not apply to main.c near line 1 (0.1.7)"),
        ("garbage\n", "Only garbage was found in the patch input."),
        ("", "has no change in it"),
        ("--- a/main.c\n+++ b/main.c\n@@ -1,7 +1,7 @@\n line 1\n", "unexpected end of file in patch"),
        ("--- a/../../x.c\n+++ b/../../x.c\n@@ -1,1 +1,1 @@\n-a\n+b\n", "there is no file ../../x.c to change"),
    ],
)
def test_a_patch_that_does_not_apply_fails_the_build(tmp_path, tree, content, message):
    patch = tmp_path / "kernels" / "0001-x.patch"
    patch.parent.mkdir()
    if content is None:
        write_patch(patch, 4, context="other")
    else:
        patch.write_text(content)
    log = io.StringIO()
    with pytest.raises(Complaints) as caught:
        apply_patches([patch], tree, tmp_path, "0.1.7", log)
    assert caught.value.code == Exit.FAILED
    assert str(caught.value).startswith("kernels/0001-x.patch: ")
    assert message in str(caught.value)
    assert log.getvalue().startswith("0001-x.patch:")


def test_a_patch_that_is_on_already_is_refused(tmp_path, tree):
    write_patch(tmp_path / "a.patch", 4)
    apply_patches([tmp_path / "a.patch"], tree, tmp_path, "", io.StringIO())
    with pytest.raises(Complaints, match=r"hunk 1 does not apply to main\.c"):
        apply_patches([tmp_path / "a.patch"], tree, tmp_path, "", io.StringIO())
