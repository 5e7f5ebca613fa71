# SPDX-License-Identifier: Apache-2.0
"""A folder with a kernel's source that a user has, in place of the packaged one: what is in it now, and what it is."""

import hashlib
import json
import os
import re
import stat
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pathwarp.base import interrupt, program
from pathwarp.base.complaints import Complaints

OPTION = "kernel"
# What a source that can become a kernel for User Mode Linux has.
_MARKS = ("Kbuild", "Makefile", "arch/um/Makefile", "scripts/kconfig/merge_config.sh")
_VERSION = re.compile(r"^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION) *= *(\S*) *$", re.MULTILINE)
_HEAD_BYTES = 4096


@dataclass(frozen=True)
class KernelTree:
    """`sha256` is over the names, modes and contents of its files, `version` what its Makefile says."""

    folder: Path
    sha256: str
    version: str

    @property
    def name(self) -> str:
        """What it is called in the names of folders: `6.18.2-1a2b3c4d`."""
        return f"{re.sub(r'[^A-Za-z0-9.]+', '-', self.version)[:40]}-{self.sha256[:8]}"

    def to_json(self) -> str:
        """For another process, which need not read the folder again."""
        return json.dumps({**vars(self), "folder": str(self.folder)}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Self:
        values = json.loads(text)
        return cls(Path(values["folder"]), values["sha256"], values["version"])


def kernel_name(source: KernelTree | None) -> str:
    """What a source is called in the names of folders; the packaged one has no name."""
    return source.name if source else ""


def read_kernel_tree(folder: Path) -> KernelTree:
    """Read a folder as it is now; Complaints when it is no kernel's source."""
    missing = [mark for mark in _MARKS if not os.path.isfile(folder / mark)]
    if missing:
        what = f"{str(folder)[:200]!r} is no kernel's source: it has no {', no '.join(missing)}"
        raise Complaints.one(OPTION, what, "a git checkout of Linux, or its sources unpacked")
    found = dict(_VERSION.findall((folder / "Makefile").read_text(errors="replace")[:_HEAD_BYTES]))
    version = ".".join(found.get(part, "0") or "0" for part in ("VERSION", "PATCHLEVEL", "SUBLEVEL"))
    return KernelTree(folder.resolve(), hash_files(folder, files_of(folder)), version + found.get("EXTRAVERSION", ""))


def files_of(folder: Path) -> list[str]:
    """The files of a source, relative to it and sorted: in a git checkout what git knows or would take, or else all."""
    listed = program.run(
        ["git", "-C", str(folder), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        errors=subprocess.DEVNULL,
    )
    if listed.returncode == 0 and is_checkout(folder):
        names = listed.stdout.decode(errors="surrogateescape").split("\0")
        return sorted({name for name in names if name and os.path.lexists(folder / name)})
    return sorted(all_files(folder))


def is_checkout(folder: Path) -> bool:
    """Whether it is a git checkout, of which git tells what was built there from what is source."""
    return (folder / ".git").exists()


def all_files(folder: Path) -> Iterator[str]:
    """All files below a folder, relative to it, but for git's own."""
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        above = os.path.relpath(place, folder)
        yield from (os.path.normpath(os.path.join(above, name)) for name in names)


def hash_files(folder: Path, names: Iterable[str]) -> str:
    """SHA-256 over names, modes and contents."""
    whole = hashlib.sha256()
    for name in names:
        interrupt.check()
        path = folder / name
        status = os.lstat(path)
        content = os.readlink(path).encode() if stat.S_ISLNK(status.st_mode) else path.read_bytes()
        kind = "link" if stat.S_ISLNK(status.st_mode) else "program" if status.st_mode & 0o100 else "file"
        whole.update(f"{kind} {len(content)} {name}\0".encode(errors="surrogateescape"))
        whole.update(content)
    return whole.hexdigest()
