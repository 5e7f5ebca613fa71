# SPDX-License-Identifier: Apache-2.0
"""What a search makes of the sources of its steps, and leaves nothing of behind."""

import shutil
from pathlib import Path
from typing import Self

from pathwarp.base.atomic import write_whole
from pathwarp.model.kerneltree import KernelTree
from pathwarp.prepare.base import built
from pathwarp.prepare.lock import building


class Leftovers:
    """The folders of all that is made of sources meanwhile. Those that were there before are nobody's leftovers.

    Their names are in the file `notes`, so that the next search clears away what a killed one left.
    """

    def __init__(self, root: Path, notes: Path) -> None:
        self.root = root
        self.notes = notes
        self.names: list[str] = []
        self.kept = ""

    def __enter__(self) -> Self:
        if self.notes.exists():
            self.names = self.notes.read_text().split()
            self._remove(self.names)
        return self

    def __exit__(self, *error: object) -> None:
        self._remove(self.names)
        self.notes.unlink(missing_ok=True)

    def note(self, source: KernelTree, keep: bool = False) -> None:
        """Something is to be made of this source, to be kept to the end, or until the next but one."""
        if source.name not in self.names and not built(self.root, source).exists():
            self.names.append(source.name)
            write_whole(self.notes, "".join(f"{name}\n" for name in self.names))
        if keep:
            self.kept = source.name

    def clear(self) -> None:
        """Remove all but what is kept and the last one, which the next kernel is made from."""
        self._remove([name for name in self.names[:-1] if name != self.kept])

    def _remove(self, names: list[str]) -> None:
        with building(self.root):
            for name in names:
                shutil.rmtree(self.root / "build" / "trees" / name, ignore_errors=True)
