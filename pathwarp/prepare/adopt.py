# SPDX-License-Identifier: Apache-2.0
"""What was compiled in another tree, taken over, so that make compiles only what differs between the two.

Make goes by the times of change. Sources that are equal in both trees get the time that they have in the other one,
all others that of now, which is later than anything that was compiled there.
"""

import filecmp
import os
from collections.abc import Collection
from pathlib import Path

from pathwarp.base import interrupt
from pathwarp.base.atomic import write_whole
from pathwarp.model.kerneltree import all_files

# The configuration is a tree's own; make finds out which of its options are others.
_OWN = {".config", ".config.old"}


def take_times(tree: Path, sources: Collection[str], other: Path, others: Collection[str]) -> None:
    """Give the sources of a tree the times of change that make needs beside what was compiled in the other one, whose
    sources are the `others`. Names are relative to the trees.
    """
    for name in sources:
        interrupt.check()
        if name in others and _same(tree / name, other / name):
            was = os.lstat(other / name)
            os.utime(tree / name, ns=(was.st_atime_ns, was.st_mtime_ns), follow_symlinks=False)
        else:
            os.utime(tree / name, follow_symlinks=False)


def products(sources: Collection[str], other: Path, others: Collection[str]) -> list[str]:
    """What was made in the other tree of its sources, the `others`, and is no source in this one."""
    return sorted(name for name in all_files(other) if name not in others and name not in sources and name not in _OWN)


def shadows(sources: Collection[str], others: Collection[str]) -> bool:
    """Whether a header comes to the `others` with the name of one that is there: what includes that name may get the
    new one, and make, which knows which file it was, wouldn't compile it again.
    """
    names = {os.path.basename(name) for name in others}
    return any(name.endswith(".h") and name not in others and os.path.basename(name) in names for name in sources)


def write_sources(path: Path, names: Collection[str]) -> None:
    """Write down which files of a tree are sources; OSError when that can't be."""
    write_whole(path, "".join(f"{name}\0" for name in sorted(names)).encode(errors="surrogateescape"))


def read_sources(path: Path) -> frozenset[str]:
    """Which files of a tree are sources; none when nobody wrote it down."""
    try:
        return frozenset(path.read_bytes().decode(errors="surrogateescape").split("\0")) - {""}
    except FileNotFoundError:
        return frozenset()


def _same(one: Path, other: Path) -> bool:
    links = [path.is_symlink() for path in (one, other)]
    if any(links):
        return all(links) and os.readlink(one) == os.readlink(other)
    return one.is_file() and other.is_file() and filecmp.cmp(one, other, shallow=False) and _mode(one) == _mode(other)


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o111
