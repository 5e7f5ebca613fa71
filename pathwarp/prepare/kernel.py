# SPDX-License-Identifier: Apache-2.0
"""A kernel: what it is made from, whether the one there is still that, and making it.

Variants that differ in nothing but sysctls share a kernel. `build/kernels/NAME/BACKEND/` holds the binary (`linux` for
uml, `bzImage` for vm), `config`, `System.map`, `release.txt` (what `uname -r` says) and `build.json` (source,
configuration, patches and binary with their SHA-256). It is there whole or not at all.
"""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from pathwarp.base.complaints import Complaint, Complaints, Exit, gather
from pathwarp.base.hashing import hash_file, hash_parts
from pathwarp.model.backends.registry import DEFAULT_BACKEND
from pathwarp.model.kerneltree import KernelTree
from pathwarp.model.schema.variant import ResolvedVariant
from pathwarp.prepare.base import Base, find_base, read_bytes
from pathwarp.prepare.patches import SERIES, Entry
from pathwarp.prepare.stamp import publish, read_stamp, work_folder, write_stamp
from pathwarp.prepare.tree import Tree

FORMAT = 2
# Those of format 1 are read, to see that they are not up to date.
FORMATS = (1, FORMAT)
# The kernel of the variants that put no patch on the base. vms/libvirt/kernel.rb knows it, too.
UNPATCHED = "mainline"


@dataclass(frozen=True)
class Kernel:
    """The kernel of all variants that come to the patches `own` on the base, in that order.

    `name` is that of the last variant which has patches; the variants that extend it and have none share its kernel.
    """

    base: Base
    name: str
    own: tuple[Entry, ...]

    @property
    def folder(self) -> Path:
        """Where it is, or will be."""
        return self.base.home / "kernels" / self.name / self.base.backend

    @property
    def record(self) -> dict[str, Any]:
        """What its `build.json` says; empty when there is no kernel."""
        return read_stamp(self.folder / "build.json", FORMATS)

    @property
    def inputs(self) -> str:
        """SHA-256 of all that it is made from, but for the source's exact version and the compiler."""
        parts = [*self.base.parts(), ("variant", self.name.encode())]
        return hash_parts([*parts, *((patch.path.name, read_bytes(patch.path, self.base.root)) for patch in self.own)])

    def is_current(self) -> bool:
        """Whether it is there and made from the data files as they are now; a matter of milliseconds."""
        return self.record.get("inputs") == self.inputs

    def check_binary(self) -> None:
        """Complaints (a build failed) when the binary there is not the one that the record speaks of."""
        binary = self.folder / self.base.binary
        where, hint = binary.relative_to(self.base.root).as_posix(), "remove its folder and run `make kernels`"
        try:
            found = hash_file(binary)
        except OSError as error:
            raise Complaints.one(where, f"cannot be read: {error.strerror}", hint=hint, code=Exit.FAILED) from None
        if found != self.record.get("binary_sha256"):
            raise Complaints.one(where, "is not the file that was built", hint=hint, code=Exit.FAILED)

    def build(self, log: TextIO) -> None:
        """Make it from the base, which must be current; Complaints (a build failed) say what went wrong."""
        base, root = self.base, self.base.root
        base.require_current()
        source = read_stamp(base.folder / "base.json")["source"]
        inputs = self.inputs
        with work_folder(root, f"kernel-{self.name}") as work:
            tree = base.tree(work / "tree", log)
            tree.copy(base.tree(base.folder / "tree", log))
            base.apply(list(self.own), tree, source["version"], log)
            tree.make("olddefconfig")
            tree.compile(f"-pathwarp-{self.name}")
            base.check_config(tree)
            patches = [patch.path for patch in (*base.patches, *self.own)]
            made = work / "kernel"
            made.mkdir()
            _collect(tree, made)
            stamp = {
                "format": FORMAT,
                "name": self.name,
                "backend": base.backend,
                "release": tree.release(),
                "source": source,
                "compiler": _compiler(tree),
                "config_sha256": hash_file(made / "config"),
                "patches": [
                    {"file": patch.relative_to(root).as_posix(), "sha256": hash_file(patch)} for patch in patches
                ],
                "binary_sha256": hash_file(made / base.binary),
                "inputs": inputs,
            }
            write_stamp(made / "build.json", stamp)
            publish(root, made, self.folder)


def find_kernel(
    root: Path, variant: ResolvedVariant, backend: str = DEFAULT_BACKEND, source: KernelTree | None = None
) -> Kernel:
    """The kernel of a variant: the base with the series of all that it extends, then its own.

    Complaints for a wrong recipe, and for all that is wrong in a series.
    """
    base = find_base(root, backend, source)
    folders = [root / "kernels" / "variants" / name for name in variant.chain]
    patched = [folder for folder in folders if (folder / SERIES).exists()]
    name = patched[-1].name if patched else UNPATCHED
    if patched and name == UNPATCHED:
        where = (patched[-1] / SERIES).relative_to(root).as_posix()
        hint = "give the variant that has them another name"
        raise Complaints.one(where, f"{UNPATCHED} is the kernel without a variant's patches", hint=hint)
    return Kernel(base, name, tuple(patch for folder in patched for patch in base.series(folder)))


def group_by_kernel(
    root: Path, variants: Iterable[ResolvedVariant], backend: str, source: KernelTree | None = None
) -> list[tuple[Kernel, list[ResolvedVariant]]]:
    """Each kernel that the variants take, once, with those that take it; all Complaints as of `find_kernel`."""
    groups: dict[str, tuple[Kernel, list[ResolvedVariant]]] = {}
    complaints: list[Complaint] = []
    for variant in variants:
        with gather(complaints):
            kernel = find_kernel(root, variant, backend, source)
            groups.setdefault(kernel.name, (kernel, []))[1].append(variant)
    if complaints:
        raise Complaints(complaints)
    return list(groups.values())


def _collect(tree: Tree, made: Path) -> None:
    """Copy what a trial needs of a compiled tree."""
    shutil.copy2(tree.binary, made)
    shutil.copy2(tree.config, made / "config")
    shutil.copy2(tree.folder / "System.map", made)
    (made / "release.txt").write_text(f"{tree.release()}\n")


def _compiler(tree: Tree) -> str:
    lines = tree.config.read_text().splitlines()
    return next((line.split("=", 1)[1].strip('"') for line in lines if line.startswith("CONFIG_CC_VERSION_TEXT=")), "")
