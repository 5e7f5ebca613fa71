# SPDX-License-Identifier: Apache-2.0
"""The documentation: links lead somewhere, tables render, lines fit, and pages that are named exist."""

import re
from pathlib import Path

import pytest
from markdown_page import Page

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ("pathwarp", "tests", "playbooks", "kernels", "scenarios", "topologies", "traffic", "vms")
SUFFIXES = {".py", ".sh", ".yaml", ".yml", ".md", ".txt", ".patch", ".config"}
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        ROOT / "results" / "README.md",
        *(page for folder in SOURCE for page in (ROOT / folder).rglob("*.md")),
    ]
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_is_in_order(page):
    assert Page(page).complaints() == []


def test_every_page_is_in_the_index():
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / target.partition("#")[0]).resolve() for _, target in Page(index).targets()}
    assert set((ROOT / "docs").rglob("*.md")) - linked == {index}


def test_every_picture_is_shown():
    shown = {(page.parent / target).resolve() for page in PAGES for _, target in Page(page).targets()}
    assert set((ROOT / "docs" / "images").iterdir()) - shown == set()


def test_pages_that_the_source_names_exist():
    files = [ROOT / "Makefile", ROOT / "Vagrantfile", *(ROOT / "playbooks").iterdir()]
    files += [file for folder in SOURCE for file in (ROOT / folder).rglob("*") if file.suffix in SUFFIXES]
    named = [
        (file, name)
        for file in {*files, *PAGES}
        if file.is_file() and file != Path(__file__)
        for name in re.findall(r"\bdocs/[\w/-]+\.(?:md|png|svg)\b", file.read_text(encoding="utf-8", errors="replace"))
    ]
    assert len(named) > 10
    assert [(str(file), name) for file, name in named if not (ROOT / name).exists()] == []


def test_source_that_pages_name_exists():
    """Names with capitals, as in NAME/NN.csv, stand for any; the tutorial's own files are the reader's."""
    named = [
        (str(page.relative_to(ROOT)), name)
        for page in PAGES
        if page.name != "tutorial.md"
        for name in re.findall(rf"`((?:{'|'.join(SOURCE)}|bin)/[a-z0-9_./-]+)`", page.read_text(encoding="utf-8"))
    ]
    assert len(named) > 30
    assert [(page, name) for page, name in named if not any(ROOT.glob(f"{name.rstrip('/')}*"))] == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[a](gone.md)\n", "line 1 links to gone.md: there is no such file"),
        ("![a](gone.png)\n", "line 1 links to gone.png: there is no such file"),
        ("# Head\n\n[a](#tail)\n", "line 3 links to #tail: the page has no such heading"),
        ("[a](other.md#none)\n", "line 1 links to other.md#none: the page has no such heading"),
        ("| a | b |\n| --- | --- |\n| 1 | 2 |\n\n| 3 | 4 |\n", "line 5 looks like a row, but is in no table"),
        ("| a | b |\n| --- | --- |\n| 1 |\n", "line 3 has 1 cells, the table's head has 2"),
        ("| a | b |\n| --- | --- |\n| 1 | `2|3` |\n", "line 3 has 3 cells, the table's head has 2"),
        ("| a | b |\n| --- |\n| 1 | 2 |\n", "line 1 looks like a row, but is in no table"),
        ("a\n" + 121 * "b" + "\n", "line 2 has 121 columns"),
        ("a \nb\n", "line 1 has blanks at its end, or a tab"),
        ("a", "the file does not end with one line end"),
    ],
)
def test_what_is_wrong_is_found(tmp_path, text, complaint):
    (tmp_path / "other.md").write_text("# Some\n")
    (tmp_path / "page.md").write_text(text)
    assert complaint in Page(tmp_path / "page.md").complaints()


def test_what_is_right_is_left_alone(tmp_path):
    (tmp_path / "page.md").write_text(
        "# A `code`, and - more\n\n## Twice\n\n## Twice\n\n[a](#a-code-and---more) [b](#twice) [c](#twice-1)\n\n"
        "| a | b |\n| --- | --: |\n| `x \\| y` | 2 |\n\n```\n| no | table |\n```\n"
    )
    assert Page(tmp_path / "page.md").complaints() == []
