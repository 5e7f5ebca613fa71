# SPDX-License-Identifier: Apache-2.0
"""The programs of the kernel's own tests, made from the source that the kernels are made from.

`build/programs/` holds `net/…` as the kernel's own makefiles install it, and `programs.json`: the tests that there
are, and what they were made from. It is there whole or not at all.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TextIO

from pydantic import Field, RootModel

from pathwarp.base.complaints import Complaint, Complaints
from pathwarp.base.hashing import hash_parts
from pathwarp.base.yamlfile import read
from pathwarp.model.catalogue import SELFTESTS, suggest
from pathwarp.model.kerneltree import KernelTree
from pathwarp.model.schema.common import Part
from pathwarp.model.schema.explain import read_model
from pathwarp.plan.selftest import Program
from pathwarp.prepare.base import built, find_base, read_bytes, without_comments
from pathwarp.prepare.recipe import KernelBackend
from pathwarp.prepare.stamp import publish, read_stamp, work_folder, write_stamp
from pathwarp.prepare.tree import Tree, needed

RECIPE = "kernels/selftests.yaml"
METHOD = 1  # as in pathwarp.prepare.base
_SOURCE = Path("tools", "testing", "selftests")

# A name that can't leave its folder.
_FILE = r"[A-Za-z0-9][\w.-]{0,99}"
_File = Annotated[str, Field(pattern=rf"^{_FILE}$")]
_Folder = Annotated[str, Field(max_length=100, pattern=r"^[a-z0-9][\w-]*(/[\w-]+)*$")]


class Chosen(Part):
    """Of a folder some scripts, the programs that they call, and some programs that are tests themselves."""

    scripts: tuple[_File, ...] = ()
    built: tuple[_File, ...] = ()
    programs: tuple[_File, ...] = ()


class Collections(RootModel[dict[_Folder, Literal["all"] | Chosen]]):
    """Folder of tests to what of it is run."""


@dataclass(frozen=True)
class Programs:
    """The programs of a project folder, made from the packaged source or a user's own."""

    root: Path
    source: KernelTree | None = None

    @property
    def folder(self) -> Path:
        return built(self.root, self.source) / "programs"

    def parts(self) -> Iterator[tuple[str, bytes]]:
        """All that they are made from, apart from the source's exact version and the compiler."""
        base = find_base(self.root, SELFTESTS)
        which = self.source.sha256 if self.source else base.recipe.package
        yield "recipe", json.dumps([METHOD, which, read_collections(self.root).model_dump()]).encode()
        for path in needed(self.root, _TREE):
            yield path.name, without_comments(read_bytes(path, self.root))

    def is_current(self) -> bool:
        return read_stamp(self.folder / "programs.json").get("inputs") == hash_parts(self.parts())

    def tests(self) -> dict[str, Program]:
        """The tests that there are, by their names."""
        listed = read_stamp(self.folder / "programs.json").get("tests", [])
        return {one["name"]: Program(**one) for one in listed}

    def choose(self, names: Sequence[str], option: str = "tests") -> list[Program]:
        """The tests of these names, or all that there are; Complaints, about the option, for those that are not."""
        there = self.tests()
        unknown = [name for name in names if name not in there]
        if unknown:
            raise Complaints(
                Complaint(option, f"there is no test {name[:40]!r}", ", ".join(there), suggest(name, tuple(there)))
                for name in unknown
            )
        return [there[name] for name in names] if names else list(there.values())

    def sha256(self) -> str:
        """One hash over all of their files."""
        files = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return hash_parts((path.relative_to(self.folder).as_posix(), path.read_bytes()) for path in files)

    def build(self, log: TextIO) -> None:
        """Make them anew; Complaints (a build failed) say which step failed and why."""
        base, inputs = find_base(self.root, SELFTESTS), hash_parts(self.parts())
        with work_folder(self.root, "programs") as work:
            tree = Tree(self.root, work / "tree", _TREE, base.recipe.built_at, log)
            if self.source:
                tree.take(self.source)
            else:
                tree.folder.mkdir()
                tree.unpack_more(base.archive)
            tree.make("headers")
            made = work / "made"
            tests = []
            for folder, chosen in read_collections(self.root).root.items():
                _install(tree, made, folder, chosen)
                lines = (made / "kselftest-list.txt").read_text().splitlines()
                files = [line.partition(":")[2] for line in lines]
                tests += [Program(Path(file).stem, folder, file) for file in files if re.fullmatch(_FILE, file)]
            write_stamp(made / "programs.json", {"inputs": inputs, "tests": [vars(one) for one in tests]})
            publish(self.root, made, self.folder)


# The headers that programs see are the machine's, not those of User Mode Linux.
_TREE = KernelBackend(arch="x86", binary="usr/include", config=("none",), unpack=("programs",))


def read_collections(root: Path) -> Collections:
    """Complaints for all that is wrong with the file."""
    return read_model(Collections, read(root / RECIPE, root))


def _install(tree: Tree, made: Path, folder: str, chosen: Literal["all"] | Chosen) -> None:
    """Compile a collection and put it into `made`; the list of its tests is `kselftest-list.txt` there."""
    which = []
    if isinstance(chosen, Chosen):
        # What the command line says of a variable is what counts, whatever the makefile adds to it.
        which = [f"TEST_PROGS={' '.join(chosen.scripts)}", f"TEST_GEN_FILES={' '.join(chosen.built)}"]
        which += [f"TEST_GEN_PROGS={' '.join(chosen.programs)}", "TEST_PROGS_EXTENDED=", "INSTALL_DEP_TARGETS="]
    # Without debugging information, of which the folder's name would be a part.
    options = ["FORCE_TARGETS=1", "USERCFLAGS=-g0", f"INSTALL_PATH={made}", f"TARGETS={folder}", *which]
    tree.make("-C", str(_SOURCE), *options, "install")
