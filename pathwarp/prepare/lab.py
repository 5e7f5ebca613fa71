# SPDX-License-Identifier: Apache-2.0
"""A lab root, the file system that guests run on: whether the one there is good, and its last steps.

`vms/NAME.yaml` says what is in it. `build/NAME/` holds `root/` and `lab.json` (the packages with their versions, and
what it was made from). It is there whole or not at all. Trials run on the one called `lab`.
"""

import json
import os
from pathlib import Path

from pathwarp.base import program
from pathwarp.base.complaints import Complaint, Complaints, Exit
from pathwarp.base.hashing import hash_parts
from pathwarp.prepare.recipe import LAB, LabRecipe, lab_file, read_lab_recipe
from pathwarp.prepare.stamp import publish, read_stamp, write_stamp

FORMAT = 1
METHOD = 1  # as in pathwarp.prepare.base


def lab_root(root: Path, name: str = LAB) -> Path:
    """Where the lab root is, or will be."""
    return root / "build" / name / "root"


def read_lab(root: Path, name: str = LAB) -> dict:
    """What `lab.json` says: `packages` (name to version), `packages_sha256`, `inputs`; empty without a lab root."""
    return read_stamp(root / "build" / name / "lab.json")


def is_current(root: Path, name: str = LAB) -> bool:
    """Whether the lab root is there, as the recipe is now, with all that guests need; a matter of milliseconds."""
    recipe = read_lab_recipe(root, name)
    return read_lab(root, name).get("inputs") == _hash(recipe) and not _missing(lab_root(root, name), recipe)


def finish(root: Path, made: Path, name: str = LAB) -> None:
    """Take the unpacked root file system in `made/root` for the new lab root: what is the host's in it goes, the
    mount points come, and it is checked and put into its place. Complaints (a build failed) when a program is missing.
    """
    recipe = read_lab_recipe(root, name)
    new = made / "root"
    for folder in recipe.folders:
        inside(new, folder).mkdir(parents=True, exist_ok=True)
    for file in ("hostname", "resolv.conf"):
        inside(new, f"/etc/{file}").unlink(missing_ok=True)
    _check(new, recipe, lab_file(name))
    packages = _packages(new)
    stamp = {
        "format": FORMAT,
        "suite": recipe.suite,
        "packages": packages,
        "packages_sha256": hash_parts((name, version.encode()) for name, version in sorted(packages.items())),
        "inputs": _hash(recipe),
    }
    write_stamp(made / "lab.json", stamp)
    publish(root, made, root / "build" / name)


def inside(folder: Path, path: str) -> Path:
    """The absolute `path` as seen in `folder`."""
    return folder / path.lstrip("/")


def _hash(recipe: LabRecipe) -> str:
    return hash_parts([("recipe", json.dumps([METHOD, recipe.model_dump()], sort_keys=True).encode())])


def _missing(lab: Path, recipe: LabRecipe) -> list[str]:
    # lexists: links such as /usr/bin/python3 are good without the host having what an absolute one points to.
    return [path for path in recipe.needs if not os.path.lexists(inside(lab, path))]


def _check(lab: Path, recipe: LabRecipe, file: str) -> None:
    missing = _missing(lab, recipe)
    if missing:
        hint = f"which Debian package has it? {file} lists those to install; `make lab` builds the lab root anew"
        raise Complaints((Complaint("lab root", f"{path} is missing", hint=hint) for path in missing), Exit.FAILED)


def _packages(lab: Path) -> dict[str, str]:
    """Package to version, from the file system's own package database."""
    database = inside(lab, "/var/lib/dpkg")
    command = ["dpkg-query", f"--admindir={database}", "--show", "--showformat=${Package} ${Version}\n"]
    done = program.run(command)
    done.check_returncode()
    return dict(line.split(" ", 1) for line in done.stdout.decode().splitlines())
