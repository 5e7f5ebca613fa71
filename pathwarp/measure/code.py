# SPDX-License-Identifier: Apache-2.0
"""The code that takes part in measuring, and its hash: metrics that other code made are made again."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from pathwarp.base.engine import PACKAGE
from pathwarp.base.hashing import hash_parts

# All of these take part, and of those that they build on what they import, however far away.
ROOMS, GROUND = ("measure", "wire"), ("base", "model")


@cache
def measuring_code(package: Path = PACKAGE) -> str:
    """SHA-256 over the source of all files that take part in measuring, by their places below `package`."""
    return hash_parts((path.relative_to(package).as_posix(), path.read_bytes()) for path in taking_part(package))


def taking_part(package: Path) -> list[Path]:
    """The files that take part in measuring, in the order of their names."""
    found: set[Path] = set()
    todo = [path for room in ROOMS for path in (package / room).rglob("*.py")]
    while todo:
        path = todo.pop()
        if path not in found:
            found.add(path)
            todo += _imported(path, package)
    return sorted(found)


def _imported(path: Path, package: Path) -> Iterator[Path]:
    """The files of the package that one of them imports anywhere in it, with the packages that these lie in."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            first, *steps = name.split(".")
            if first == package.name and steps and steps[0] in (*ROOMS, *GROUND):
                yield from _files(package, steps)


def _files(package: Path, steps: list[str]) -> Iterator[Path]:
    for depth in range(1, len(steps) + 1):
        place = package.joinpath(*steps[:depth])
        yield from (path for path in (place / "__init__.py", place.with_suffix(".py")) if path.is_file())
