# SPDX-License-Identifier: Apache-2.0
"""The base of all kernels of a backend: the source with the patches that every kernel has, configured and compiled.

A variant's kernel is a copy of it with a few more patches, of which make compiles again only what they change.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from pathwarp.base.complaints import Complaints, Exit
from pathwarp.base.hashing import hash_file, hash_parts
from pathwarp.base.plainfile import read_plain
from pathwarp.prepare.patches import apply_patches, read_series
from pathwarp.prepare.recipe import KERNELS, KernelBackend, KernelRecipe, read_kernel_recipe
from pathwarp.prepare.stamp import publish, read_stamp, work_folder, write_stamp
from pathwarp.prepare.tree import Tree, fragments, unneeded

# Part of every hash: to be counted up when a change to this package changes what comes out of the same data files.
METHOD = 1


@dataclass(frozen=True)
class Base:
    """What the base kernel of a backend is made from, and where it is."""

    root: Path
    backend: str
    recipe: KernelRecipe

    @property
    def options(self) -> KernelBackend:
        return self.recipe.backends[self.backend]

    @property
    def binary(self) -> str:
        """The kernel's file name."""
        return Path(self.options.binary).name

    @property
    def folder(self) -> Path:
        return self.root / "build" / "base" / self.backend

    @property
    def source(self) -> Path:
        """The folder that the preparation puts the source into: the archive, and its package's version."""
        return self.root / "build" / "downloads" / self.recipe.package

    @property
    def archive(self) -> Path:
        return self.source / f"{self.recipe.package}.tar.xz"

    def series(self, folder: Path) -> list[Path]:
        """The patches of a folder that are for this backend; Complaints as of `read_series`."""
        return read_series(folder, self.root, self.backend, tuple(self.recipe.backends))

    @property
    def patches(self) -> list[Path]:
        return self.series(self.root / "kernels" / "patches")

    def parts(self) -> Iterator[tuple[str, bytes]]:
        """All that the outcome depends on, apart from the source's exact version and the compiler."""
        chosen = {"method": METHOD, "package": self.recipe.package, "built_at": self.recipe.built_at}
        yield "recipe", json.dumps([chosen, self.backend, self.options.model_dump()], sort_keys=True).encode()
        for path in (*fragments(self.root, self.options), *unneeded(self.root, self.options)):
            yield path.relative_to(self.root).as_posix(), without_comments(read_bytes(path, self.root))
        for path in self.patches:
            yield path.relative_to(self.root).as_posix(), read_bytes(path, self.root)

    def is_current(self) -> bool:
        return read_stamp(self.folder / "base.json").get("inputs") == hash_parts(self.parts())

    def tree(self, folder: Path, log: TextIO) -> Tree:
        return Tree(self.root, folder, self.options, self.recipe.built_at, log)

    def describe_source(self, version: str) -> str:
        """For messages: which source this is, and which one the patches were made for."""
        return f"the source is {version}, the patches were made for {self.recipe.tested}"

    def build(self, log: TextIO) -> None:
        """Make it anew; Complaints (a build failed) say which step failed and why."""
        inputs = hash_parts(self.parts())
        with work_folder(self.root, f"base-{self.backend}") as work:
            made = work / "base"
            made.mkdir()
            tree = self.tree(made / "tree", log)
            tree.unpack(self.archive)
            version = tree.version()
            apply_patches(self.patches, tree.folder, self.root, self.describe_source(version), log)
            tree.configure()
            tree.compile("-pathwarp")
            source = {
                "package": self.recipe.package,
                "package_version": (self.source / "version").read_text().strip(),
                "version": version,
                "sha256": hash_file(self.archive),
            }
            write_stamp(made / "base.json", {"inputs": inputs, "source": source})
            publish(self.root, made, self.folder)


def find_base(root: Path, backend: str) -> Base:
    """The base of a backend's kernels; Complaints when kernels/base.yaml is wrong or doesn't know the backend."""
    recipe = read_kernel_recipe(root)
    if backend not in recipe.backends:
        raise Complaints.one("backend", f"no kernels are built for '{backend[:40]}'", ", ".join(recipe.backends))
    return Base(root, backend, recipe)


def without_comments(content: bytes) -> bytes:
    """The lines that say something. Kconfig's `# CONFIG_X is not set` does."""
    lines = content.splitlines()
    return b"\n".join(line for line in lines if line.strip() and (line[:1] != b"#" or line.startswith(b"# CONFIG_")))


def read_bytes(path: Path, root: Path) -> bytes:
    try:
        return read_plain(path)
    except OSError as error:
        where = path.relative_to(root).as_posix()
        hint = f"{KERNELS} or a series names it"
        raise Complaints.one(where, f"cannot be read: {error.strerror}", hint=hint, code=Exit.BAD_INPUT) from None
