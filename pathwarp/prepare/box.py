# SPDX-License-Identifier: Apache-2.0
"""The Vagrant box that virtual machines start from: whether the one there is good, and its last steps.

`build/box/` holds `pathwarp.box` (the lab root with what a machine of its own needs, as a disk), `box.json` (Vagrant's
catalogue with that one box), `key` (this checkout's, which opens its machines only), `known_hosts` (theirs) and
`stamp.json`. It is there whole or not at all.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from pathwarp.base.hashing import hash_parts
from pathwarp.prepare.lab import read_lab
from pathwarp.prepare.stamp import publish, read_stamp, write_stamp

METHOD = 1  # as in pathwarp.prepare.base
# What ssh calls the machine, wherever it is reached.
HOST = "lab"


def box_folder(root: Path) -> Path:
    """Where the box is, or will be, without links: Vagrant and the stamp have it in writing."""
    return (root / "build").resolve() / "box"


def is_current(root: Path) -> bool:
    """Whether the box is there, made from the lab root and the files as they are now; a matter of milliseconds."""
    return read_stamp(box_folder(root) / "stamp.json").get("inputs") == hash_parts(_parts(root))


def finish(root: Path, made: Path) -> None:
    """Take the folder `made`, which has box and keys, for the new box; Vagrant's and ssh's lists come to it."""
    inputs = hash_parts(_parts(root))
    place = box_folder(root) / "pathwarp.box"
    # Vagrant takes numbers for versions, and a box with one that it has already for the same, keys included.
    keys = hash_parts((name, (made / name).read_bytes()) for name in ("key.pub", "host.pub"))
    box = {"version": f"1.0.{int(keys[:8], 16)}", "providers": [{"name": "libvirt", "url": place.as_uri()}]}
    (made / "box.json").write_text(json.dumps({"name": "pathwarp", "versions": [box]}, indent=1) + "\n")
    (made / "known_hosts").write_text(f"{HOST} {(made / 'host.pub').read_text()}")
    write_stamp(made / "stamp.json", {"inputs": inputs})
    # The keys of both sides are in it.
    made.chmod(0o700)
    publish(root, made, box_folder(root))


def _parts(root: Path) -> Iterator[tuple[str, bytes]]:
    yield "method", str(METHOD).encode()
    yield "lab", json.dumps(read_lab(root), sort_keys=True).encode()
    # In a copy of this checkout elsewhere it is made anew.
    yield "place", str(box_folder(root)).encode()
    folder = root / "vms" / "box"
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        yield path.relative_to(folder).as_posix(), path.read_bytes()
