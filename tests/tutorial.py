# SPDX-License-Identifier: Apache-2.0
"""The tutorial's files, commands and outputs, as docs/tutorial.md has them.

Run as a program in a checkout that is prepared, it puts what the commands print now into the page:
build/venv/bin/python tests/tutorial.py
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_page import Page

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "tutorial.md"
ANY = "…"
# Where the page's reader has the clone.
READERS = "/home/you/pathwarp"
# What a clone has not, what no command here needs, and what is built, which is shared with the checkout of the tests.
LEFT_OUT = (".*", "__pycache__", "build", "docs", "results", "tests")
SHARED = "build"
# What may differ from machine to machine, and nothing else: the microseconds of an instant and the ports that the
# kernel draws follow from the kernel's binary, whose source Debian updates.
VOLATILE = (
    (re.compile(r"(\d\.\d{3})\d{3}(?= |$)"), r"\1"),
    (re.compile(r"(_ms \d+\.\d)\d\d\b"), r"\1"),
    (re.compile(r"\b(\d+\.\d+\.\d+\.\d+)\.\d{5}\b"), r"\1.PORT"),
    (re.compile(r"\b(6\.12)\.\d+\b"), r"\1"),
)
# Trials side by side end in any order, and take as long as the machine takes.
TRIAL = re.compile(r"^\[ *\d+/\d+\] (.*?)(?:, \d+\.\d s)?$")


@dataclass(frozen=True)
class File:
    """A file that the reader writes."""

    path: str
    text: str
    line: int

    def do(self, root: Path) -> str:
        """Write it into a checkout; nothing is printed."""
        file = root / self.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self.text, encoding="utf-8")
        return ""


@dataclass(frozen=True)
class Command:
    """A command that the reader types, and what it prints."""

    words: str
    output: str
    line: int

    def do(self, root: Path) -> str:
        """Run it in a checkout: standard output and standard error, in the order of writing."""
        quiet = {
            name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "PATHWARP_"))
        }
        done = subprocess.run(
            ["bash", "-c", self.words],
            cwd=root,
            env=quiet,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        printed = done.stdout.replace(str(root), READERS)
        return printed + (f"exit status {done.returncode}\n" if done.returncode else "")

    def prints(self, output: str) -> bool:
        """Whether this is what the page says; … stands for any text, in a line of its own for any lines."""
        pattern = "".join(
            r"(?:.*\n)*" if line.strip() == ANY else re.escape(line).replace(re.escape(ANY), ".*") + r"\n"
            for line in settled(self.output)
        )
        return re.fullmatch(pattern, "".join(f"{line}\n" for line in settled(output))) is not None


def settled(output: str) -> list[str]:
    """The lines without what may differ."""
    lines: list[str] = []
    trials: list[str] = []
    for line in [*output.splitlines(), ""]:
        for pattern, replacement in VOLATILE:
            line = pattern.sub(replacement, line)
        if trial := TRIAL.match(line):
            trials.append(f"[] {trial[1]}")
            continue
        lines += sorted(trials)
        trials = []
        lines.append(line)
    return lines[:-1]


def steps(page: Path = PAGE) -> Iterator[File | Command]:
    """What the reader does, in order: blocks `yaml FILE` are files, `console` blocks have commands behind `$ `."""
    for block in Page(page).blocks():
        language, _, path = block.language.partition(" ")
        if path:
            yield File(path, block.text, block.line)
        elif language == "console":
            yield from _commands(block.text, block.line)


def _commands(text: str, line: int) -> Iterator[Command]:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        words, _, output = re.fullmatch(r"((?:.*\\\n)*.*)(\n)((?:.*\n)*)", part).groups()
        yield Command(words, output, line)


def checkout(folder: Path) -> Path:
    """A clone without a history, and without results."""
    shutil.copytree(ROOT, folder, symlinks=True, ignore=_left_out)
    (folder / SHARED).symlink_to(ROOT / SHARED)
    return folder


def _left_out(folder: str, names: list[str]) -> set[str]:
    patterns = LEFT_OUT if Path(folder) == ROOT else ("__pycache__",)
    return shutil.ignore_patterns(*patterns)(folder, names)


def rewrite(say: Callable[[str], object] = print) -> None:
    """Do all steps; put what commands print now, and the pictures that they draw now, into the page."""
    page = PAGE.read_text(encoding="utf-8")
    at = 0
    with tempfile.TemporaryDirectory() as folder:
        root = checkout(Path(folder) / "pathwarp")
        for step in list(steps()):
            printed = step.do(root)
            if "\nexit status " in printed:
                sys.exit(f"line {step.line}: {step}\n{printed}")
            if isinstance(step, Command):
                head = f"$ {step.words}\n"
                at = page.index(head + step.output, at) + len(head)
                if not step.prints(printed):
                    say(f"line {step.line}: {step.words}")
                    page = page[:at] + printed + page[at + len(step.output) :]
        for drawn in root.glob("results/*/figures/*.png"):
            if f"(images/{drawn.name})" in page:
                shutil.copy2(drawn, PAGE.parent / "images" / drawn.name)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    rewrite()
