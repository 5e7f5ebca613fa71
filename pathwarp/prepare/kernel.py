# SPDX-License-Identifier: Apache-2.0
"""A variant's kernel: what it is made from, whether the one there is still that, and making it.

`build/kernels/VARIANT/BACKEND/` holds the binary (`linux` for uml, `bzImage` for vm), `config`, `System.map`,
`release.txt` (what `uname -r` says) and `build.json` (source, configuration, patches and binary with their SHA-256). It
is there whole or not at all.
"""

import shutil
from pathlib import Path
from typing import TextIO

from pathwarp.base.complaints import Complaints, Exit
from pathwarp.model.schema.variant import ResolvedVariant
from pathwarp.prepare.base import Base, find_base, read_bytes
from pathwarp.prepare.kconfig import check_config
from pathwarp.prepare.patches import apply_patches
from pathwarp.prepare.stamp import hash_file, hash_parts, publish, read_stamp, work_folder, write_stamp
from pathwarp.prepare.tree import Tree, fragments

FORMAT = 1


def kernel_dir(root: Path, variant: str, backend: str = "uml") -> Path:
    """Where a variant's kernel is, or will be."""
    return root / "build" / "kernels" / variant / backend


def patches_of(root: Path, variant: ResolvedVariant, backend: str = "uml") -> list[Path]:
    """All patches of a variant's kernel in order: those of every kernel, then its own, what it extends first.

    Complaints for all that is wrong in a series.
    """
    base = find_base(root, backend)
    return [*base.patches, *_own_patches(base, variant)]


def kernel_inputs_hash(root: Path, variant: ResolvedVariant, backend: str = "uml") -> str:
    """SHA-256 of all that a variant's kernel is made from, but for the source's exact version and the compiler."""
    return _hash(find_base(root, backend), variant)


def is_current(root: Path, variant: ResolvedVariant, backend: str = "uml") -> bool:
    """Whether the variant's kernel is there and made from the data files as they are now; a matter of milliseconds."""
    stamp = read_stamp(kernel_dir(root, variant.name, backend) / "build.json")
    return stamp.get("inputs") == kernel_inputs_hash(root, variant, backend)


def read_build(root: Path, variant: str, backend: str = "uml") -> dict:
    """What `build.json` of a variant's kernel says; empty when there is no kernel."""
    return read_stamp(kernel_dir(root, variant, backend) / "build.json")


def check_binary(root: Path, variant: str, backend: str = "uml") -> None:
    """Complaints (a build failed) when the kernel there is not the one that its record speaks of."""
    binary = kernel_dir(root, variant, backend) / find_base(root, backend).binary
    where, hint = binary.relative_to(root).as_posix(), "remove its folder and run `make kernels`"
    try:
        found = hash_file(binary)
    except OSError as error:
        raise Complaints.one(where, f"cannot be read: {error.strerror}", hint=hint, code=Exit.FAILED) from None
    if found != read_build(root, variant, backend).get("binary_sha256"):
        raise Complaints.one(where, "is not the file that was built", hint=hint, code=Exit.FAILED)


def build_kernel(root: Path, variant: ResolvedVariant, backend: str, log: TextIO) -> None:
    """Make a variant's kernel from the base, which must be current; Complaints (a build failed) say what went wrong."""
    base = find_base(root, backend)
    if not base.is_current():
        where = base.folder.relative_to(root).as_posix()
        raise Complaints.one(where, "is missing or out of date", hint="build the base kernel first", code=Exit.FAILED)
    source = read_stamp(base.folder / "base.json")["source"]
    inputs = _hash(base, variant)
    with work_folder(root, f"kernel-{variant.name}") as work:
        tree = base.tree(work / "tree", log)
        tree.copy(base.tree(base.folder / "tree", log))
        own = _own_patches(base, variant)
        apply_patches(own, tree.folder, root, base.describe_source(source["version"]), log)
        tree.make("olddefconfig")
        tree.compile(f"-pathwarp-{variant.name}")
        check_config(tree.config, fragments(root, base.options), root)
        patches = [*base.patches, *own]
        made = work / "kernel"
        made.mkdir()
        _collect(tree, made)
        stamp = {
            "format": FORMAT,
            "variant": variant.name,
            "backend": backend,
            "release": tree.release(),
            "source": source,
            "compiler": _compiler(tree),
            "config_sha256": hash_file(made / "config"),
            "patches": [{"file": patch.relative_to(root).as_posix(), "sha256": hash_file(patch)} for patch in patches],
            "binary_sha256": hash_file(made / base.binary),
            "inputs": inputs,
        }
        write_stamp(made / "build.json", stamp)
        publish(root, made, kernel_dir(root, variant.name, backend))


def _own_patches(base: Base, variant: ResolvedVariant) -> list[Path]:
    return [patch for name in variant.chain for patch in base.series(base.root / "kernels" / "variants" / name)]


def _hash(base: Base, variant: ResolvedVariant) -> str:
    parts = [*base.parts(), ("variant", variant.name.encode())]
    parts += [(patch.name, read_bytes(patch, base.root)) for patch in _own_patches(base, variant)]
    return hash_parts(parts)


def _collect(tree: Tree, made: Path) -> None:
    """Copy what a trial needs of a compiled tree."""
    shutil.copy2(tree.binary, made)
    shutil.copy2(tree.config, made / "config")
    shutil.copy2(tree.folder / "System.map", made)
    (made / "release.txt").write_text(f"{tree.release()}\n")


def _compiler(tree: Tree) -> str:
    lines = tree.config.read_text().splitlines()
    return next((line.split("=", 1)[1].strip('"') for line in lines if line.startswith("CONFIG_CC_VERSION_TEXT=")), "")
