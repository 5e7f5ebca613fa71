# SPDX-License-Identifier: Apache-2.0
"""Whoever follows docs/tutorial.md sees what it shows."""

import re

import pytest
from tutorial import PAGE, Command, File, checkout, steps


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return checkout(tmp_path_factory.mktemp("tutorial") / "pathwarp")


def test_commands_print_what_the_page_shows(root):
    done = list(steps())
    assert sum(isinstance(step, File) for step in done) == 4
    assert sum(isinstance(step, Command) for step in done) > 10
    for step in done:
        printed = step.do(root)
        if isinstance(step, Command):
            assert step.prints(printed), f"line {step.line}: {step.words}\nprints:\n{printed}\nthe page:\n{step.output}"
    shown = re.findall(r"!\[[^\]]*\]\(images/([\w.-]+)\)", PAGE.read_text(encoding="utf-8"))
    assert shown and set(shown) <= {path.name for path in root.glob("results/*/figures/*.png")}


def test_files_are_named_to_the_reader():
    text = PAGE.read_text(encoding="utf-8")
    for step in steps():
        if isinstance(step, File):
            before = "\n".join(text.splitlines()[max(0, step.line - 6) : step.line - 1])
            assert f"`{step.path}`" in before


@pytest.mark.parametrize(
    ("page", "printed", "same"),
    [
        ("a\n", "a\n", True),
        ("a\n", "b\n", False),
        ("a\n", "a\nb\n", False),
        ("a\n…\nz\n", "a\nb\nc\nz\n", True),
        ("a\n…\nz\n", "a\nb\nc\n", False),
        ("a … c\n", "a b c\n", True),
        ("a.b\n", "axb\n", False),
        ("[1/2] t: 1.5, 0.7 s\n[2/2] u: 2.5, 9.9 s\n", "[1/2] u: 2.5, 1.0 s\n[2/2] t: 1.5, 1.0 s\n", True),
        ("[1/2] t: 1.5, 0.7 s\n[2/2] u: 2.5, 9.9 s\n", "[1/2] t: 2.5, 1.0 s\n[2/2] u: 1.5, 1.0 s\n", False),
        ("[1/1] t: delay_ms 1.519, 0.7 s\n", "[1/1] t: delay_ms 1.619, 0.9 s\n", False),
        ("[1/1] t: delay_ms 1.519, 0.7 s\n", "[1/1] t: delay_ms 1.581, 0.9 s\n", True),
        ("2.018347 s  server\n", "2.018999 s  server\n", True),
        ("2.018347 s  server\n", "2.019347 s  server\n", False),
        ("mean 254.0\n", "mean 254.1\n", False),
    ],
)
def test_only_what_may_differ_is_let_pass(page, printed, same):
    assert Command("true", page, 1).prints(printed) is same
