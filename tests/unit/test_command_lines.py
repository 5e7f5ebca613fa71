# SPDX-License-Identifier: Apache-2.0
"""The command lines that hints and documentation name: each has a command that exists, and options of that command."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from pathwarp.cli import cli

ROOT = Path(__file__).parents[2]
BUILDS = ("kernels", "lab", "vm")
# What make does without the engine.
ALONE = ("help", "test", "clean")
PROGRAM = re.compile(r"(?:bin/pathwarp|-m pathwarp) (\S[^`\n]*)")
# In prose, `make` is a word like any other: a command has backticks, or options.
MAKE = re.compile(r"`make ([^`\n]*)`|(?:^|\W)make ((?:[a-z-]+ )?[a-z]+=[^`\n]*)")
BLOCK = re.compile(r"^(?:    |\$ )(make .*)", re.MULTILINE)
PLACEHOLDER = "X"


def subcommand(group: click.Group, name: str) -> click.Command | None:
    return group.get_command(click.Context(group), name)


def complaints_of_program(line: str) -> Iterator[str]:
    """What is wrong with the arguments of `bin/pathwarp`: `traffic generate|show NAME --out DIR`, and words behind."""
    commands: list[click.Command] = [cli]
    for word in line.split():
        if word.isupper() and commands == [cli]:
            return  # `bin/pathwarp VERB` stands for any
        if word.startswith("--"):
            name = word.partition("=")[0].strip(",.;:)")
            known = {text for command in commands for param in command.params for text in param.opts}
            if name not in known | {"--help"}:
                yield f"no option {name}"
        elif isinstance(commands[0], click.Group) and word[0].islower():
            names = word.strip(",.;:").split("|")
            found = [subcommand(commands[0], name) for name in names]
            yield from (f"no command {name}" for name, one in zip(names, found, strict=True) if one is None)
            commands = [one for one in found if one] or commands[:0]
        if not commands:
            return


def complaints_of_make(line: str) -> Iterator[str]:
    """What is wrong with make's goals and options: `table scenario=S [variant=A|all]`, up to what is neither."""
    goals, options = [], []
    for word in re.split(r" {2,}|[;#&>]|: ", line)[0].split():
        word = word.strip("[],.()")
        if match := re.match(r"([a-z]+)=", word):
            options.append(match[1])
        elif word == "make":
            continue  # as in `make lab, make vm`
        elif re.fullmatch(r"[a-z-]+", word) and not options:
            goals.append(word)
        elif not re.fullmatch(r"[A-Z]+|…", word):
            break
    known = set()
    for goal in goals or ["run"]:
        group = subcommand(cli, "build") if goal in BUILDS else cli
        command = subcommand(group, goal)
        if command is None and goal not in ALONE:
            yield f"no goal {goal}"
        elif command is not None:
            known |= {str(param.envvar).removeprefix("PATHWARP_").lower() for param in command.params}
    if not any(goal in ALONE for goal in goals):
        yield from (f"no option {option}" for option in options if option not in known)


def complaints(text: str, shown_as_block: bool) -> list[str]:
    programs = [(line, complaints_of_program(line)) for line in PROGRAM.findall(text)]
    makes = [line for pair in MAKE.findall(text) for line in pair if line]
    makes += [line.removeprefix("make ") for line in BLOCK.findall(text)] if shown_as_block else []
    return [
        f"{line}: {what}" for line, said in [*programs, *((m, complaints_of_make(m)) for m in makes)] for what in said
    ]


def texts_of(module: Path) -> Iterator[str]:
    """The texts of a module; what a program puts into one is shown as a placeholder."""
    tree = ast.parse(module.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else PLACEHOLDER for part in node.values)
            yield "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.parametrize("module", sorted((ROOT / "pathwarp").rglob("*.py")), ids=lambda path: path.stem)
def test_hints_name_commands_that_exist(module):
    assert [said for text in texts_of(module) for said in complaints(text, shown_as_block=False)] == []


def documents() -> list[Path]:
    folders = ("docs", "kernels", "results", "scenarios", "topologies", "traffic", "vms")
    return [ROOT / "README.md", *sorted(path for folder in folders for path in (ROOT / folder).glob("**/*.md"))]


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.stem)
def test_documentation_names_commands_that_exist(document):
    assert complaints(document.read_text(), shown_as_block=True) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bin/pathwarp traffic generate NAME writes it", []),
        ("`bin/pathwarp traffic generate|draw NAME`", ["no command draw"]),
        ("bin/pathwarp trafic generate", ["no command trafic"]),
        ("build/venv/bin/python -m pathwarp run --scenario=x --varaint y", ["no option --varaint"]),
        ("run it first: make scenario=X varaint=X", ["no option varaint"]),
        ("`make tables`", ["no goal tables"]),
        ("    make table scenario=S metric=K jobs=2   # and more words", ["no option jobs"]),
        ("make it so; that makes sense", []),
    ],
)
def test_what_does_not_exist_is_found(text, said):
    found = complaints(text, shown_as_block=True)
    assert sorted({line.rpartition(": ")[2] for line in found}) == said


def test_the_documented_commands_are_found_at_all():
    found = sum(len(PROGRAM.findall(path.read_text())) + len(MAKE.findall(path.read_text())) for path in documents())
    assert found > 30
