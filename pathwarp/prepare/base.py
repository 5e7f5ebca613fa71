# SPDX-License-Identifier: Apache-2.0
"""The base of all kernels of a backend: the source with the patches that every kernel has, configured and compiled.

A variant's kernel is a copy of it with a few more patches, of which make compiles again only what they change. So is
the base of a backend that stands on another one's: a copy with a few more options.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from pathwarp.base.complaints import Complaints, Exit
from pathwarp.base.hashing import hash_file, hash_parts
from pathwarp.base.plainfile import read_plain
from pathwarp.model.kerneltree import KernelTree, all_files
from pathwarp.prepare.adopt import read_sources, shadows, write_sources
from pathwarp.prepare.kconfig import check_config
from pathwarp.prepare.patches import Entry, apply_fitting, apply_patches, read_series
from pathwarp.prepare.recipe import KERNELS, KernelBackend, KernelRecipe, read_kernel_recipe
from pathwarp.prepare.stamp import publish, read_stamp, work_folder, write_stamp
from pathwarp.prepare.tree import Tree, fragments, needed, unneeded

# Part of every hash: to be counted up when a change to this package changes what comes out of the same data files.
METHOD = 1
_SOURCES = "sources.txt"


@dataclass(frozen=True)
class Base:
    """What the base kernel of a backend is made from, and where it is; with `source` from a user's own source."""

    root: Path
    backend: str
    recipe: KernelRecipe
    source: KernelTree | None = None

    @property
    def options(self) -> KernelBackend:
        return self.recipe.backends[self.backend]

    @property
    def below(self) -> "Base | None":
        """The base that this one begins as a copy of."""
        return Base(self.root, self.options.on, self.recipe, self.source) if self.options.on else None

    @property
    def backends(self) -> tuple[str, ...]:
        """Its backend and those that it stands on: whose patches it has."""
        return (*(self.below.backends if self.below else ()), self.backend)

    @property
    def fragments(self) -> list[Path]:
        """The fragments of its configuration, a later one wins."""
        return [*(self.below.fragments if self.below else ()), *fragments(self.root, self.options)]

    @property
    def binary(self) -> str:
        """The kernel's file name."""
        return Path(self.options.binary).name

    @property
    def home(self) -> Path:
        """What is below it has been made from this source."""
        return built(self.root, self.source)

    @property
    def folder(self) -> Path:
        return self.home / "base" / self.backend

    @property
    def download(self) -> Path:
        """The folder that the preparation puts the packaged source into: the archive, and its package's version."""
        return self.root / "build" / "downloads" / self.recipe.package

    @property
    def archive(self) -> Path:
        return self.download / f"{self.recipe.package}.tar.xz"

    def series(self, folder: Path) -> list[Entry]:
        """The patches of a folder that are for this backend; Complaints as of `read_series`."""
        return read_series(folder, self.root, self.backends, tuple(self.recipe.backends))

    @property
    def patches(self) -> list[Entry]:
        return self.series(self.root / "kernels" / "patches")

    def parts(self) -> Iterator[tuple[str, bytes]]:
        """All that the outcome depends on, apart from the source's exact version and the compiler."""
        chosen = {"method": METHOD, "package": self.recipe.package, "built_at": self.recipe.built_at}
        if self.source:
            chosen["source"] = self.source.sha256
        options = self.options.model_dump(exclude_defaults=True)
        yield "recipe", json.dumps([chosen, self.backend, options], sort_keys=True).encode()
        if self.below:
            yield "below", hash_parts(self.below.parts()).encode()
        files = (
            *fragments(self.root, self.options),
            *unneeded(self.root, self.options),
            *needed(self.root, self.options),
        )
        for path in files:
            yield path.relative_to(self.root).as_posix(), without_comments(read_bytes(path, self.root))
        for entry in self.patches:
            yield entry.path.relative_to(self.root).as_posix(), read_bytes(entry.path, self.root)

    def is_current(self) -> bool:
        return read_stamp(self.folder / "base.json").get("inputs") == hash_parts(self.parts())

    def require_current(self) -> None:
        """Complaints (a build failed) where it is not there as it should be."""
        if not self.is_current():
            where = self.folder.relative_to(self.root).as_posix()
            hint = "build the base kernel first"
            raise Complaints.one(where, "is missing or out of date", hint=hint, code=Exit.FAILED)

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
            patches, sources, old = self.patches, set[str](), set[str]()
            if self.below:
                self.below.require_current()
                sources = set(read_sources(self.below.sources))
                tree.copy(self.below.tree(self.below.folder / "tree", log))
                old = set(all_files(tree.folder))
                if not self.source:
                    tree.unpack_more(self.archive)
                patches = [patch for patch in patches if patch not in self.below.patches]
            elif self.source:
                tree.take(self.source)
            else:
                tree.unpack(self.archive)
            version = tree.version()
            left_out = self.apply(patches, tree, version, log)
            there = set(all_files(tree.folder))
            sources = (sources & there) | (there - old)
            if self.below is None or self.below.sources.exists():
                write_sources(made / _SOURCES, sources)
            tree.configure(fresh=not self.below)
            left_out += self.check_config(tree)
            if self.source and (near := self._nearest(version, tree.tools(), sources)):
                tree.adopt(sources, near / "tree", read_sources(near / _SOURCES))
            tree.compile("-pathwarp")
            stamp = {"inputs": inputs, "source": self._describe(version), "tools": tree.tools(), "left_out": left_out}
            write_stamp(made / "base.json", stamp)
            publish(self.root, made, self.folder)

    @property
    def sources(self) -> Path:
        """The list of those files of its tree that are sources."""
        return self.folder / _SOURCES

    def _nearest(self, version: str, tools: Mapping[str, str], sources: Collection[str]) -> Path | None:
        """Of the bases of this backend, made with the same tools of a source of about this version, the one that was
        built last, if any; none when make would not see all that differs.
        """
        if self.below and not self.below.sources.exists():
            return None
        found = []
        for home in (self.root / "build", *(self.root / "build" / "trees").glob("*")):
            folder = home / "base" / self.backend
            stamp = read_stamp(folder / "base.json")
            about = str(stamp.get("source", {}).get("version", "")).split(".")[:2]
            if stamp.get("tools") == tools and about == version.split(".")[:2]:
                found.append(folder)
        near = max(found, key=lambda folder: (folder / "base.json").stat().st_mtime_ns, default=None)
        others = read_sources(near / _SOURCES) if near else frozenset[str]()
        return near if others and not shadows(sources, others) else None

    def apply(self, patches: list[Entry], tree: Tree, version: str, log: TextIO) -> list[str]:
        """Put patches on a tree; what of them a user's own source goes without, a line each."""
        said = self.describe_source(version)
        if self.source:
            return apply_fitting(patches, tree.folder, self.root, said, log)
        apply_patches([patch.path for patch in patches], tree.folder, self.root, said, log)
        return []

    def check_config(self, tree: Tree) -> list[str]:
        """Complaints (a build failed) for options that are not as the fragments say; of a user's own source, which may
        have others, they are returned, a line each.
        """
        try:
            check_config(tree.config, self.fragments, self.root)
        except Complaints as complaints:
            if not self.source:
                raise
            return [f"{complaint.where}: {complaint.what}" for complaint in complaints.complaints]
        return []

    @property
    def left_out(self) -> list[str]:
        """What the base there goes without of what it should have, a line each, those below it included."""
        own = read_stamp(self.folder / "base.json").get("left_out", [])
        return [*(self.below.left_out if self.below else ()), *own]

    def _describe(self, version: str) -> dict[str, str]:
        """What the records of kernels say of the source."""
        if self.source:
            return {"folder": self.source.folder.name, "version": version, "sha256": self.source.sha256}
        return {
            "package": self.recipe.package,
            "package_version": (self.download / "version").read_text().strip(),
            "version": version,
            "sha256": hash_file(self.archive),
        }


def built(root: Path, source: KernelTree | None = None) -> Path:
    """The folder of all that is made from a source."""
    return root / "build" / "trees" / source.name if source else root / "build"


def find_base(root: Path, backend: str, source: KernelTree | None = None) -> Base:
    """The base of a backend's kernels; Complaints when kernels/base.yaml is wrong or doesn't know the backend."""
    recipe = read_kernel_recipe(root)
    if backend not in recipe.backends:
        raise Complaints.one("backend", f"no kernels are built for '{backend[:40]}'", ", ".join(recipe.backends))
    return Base(root, backend, recipe, source)


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
