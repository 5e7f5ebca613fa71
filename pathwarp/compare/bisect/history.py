# SPDX-License-Identifier: Apache-2.0
"""The history of a user's git checkout, in a clone of it: the checkout itself is not touched."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Self

from pathwarp.base import program
from pathwarp.base.complaints import Complaint, Complaints, Exit
from pathwarp.model.kerneltree import KernelTree, read_kernel_tree
from pathwarp.prepare.lock import locked

TREE, GOOD, BAD, SKIP = "tree", "good", "bad", "skip"
_FIRST_BAD = re.compile(r"^([0-9a-f]{40,64}) is the first bad commit$", re.MULTILINE)
_ONLY_SKIPPED = "There are only 'skip'ped commits left to test."


@dataclass(frozen=True)
class Range:
    """The commits of a checkout between two revisions: `good` is an ancestor of `bad`, both are whole hashes."""

    folder: Path
    good: str
    bad: str

    @classmethod
    def read(cls, folder: Path, good: str, bad: str) -> Self:
        """Complaints for what is no git checkout or none of its revisions, and when one doesn't lead to the other."""
        _check_checkout(folder)
        names = {GOOD: good, BAD: bad}
        found = {name: _commit(folder, text) for name, text in names.items()}
        complaints = [
            Complaint(name, f"{text[:60]!r} is no revision of {folder}")
            for name, text in names.items()
            if not found[name]
        ]
        if complaints:
            raise Complaints(complaints)
        ends = cls(folder.resolve(), found[GOOD], found[BAD])
        if ends.good == ends.bad or _try(folder, "merge-base", "--is-ancestor", ends.good, ends.bad) is None:
            raise Complaints.one(GOOD, f"{good[:60]!r} is no ancestor of {bad[:60]!r}")
        return ends


@dataclass(frozen=True)
class History:
    """A clone of a checkout, at one revision after the other."""

    folder: Path

    def checkout(self, revision: str) -> None:
        """Have the files of a revision."""
        self._git("checkout", "--quiet", "--force", "--detach", revision)

    def source(self) -> KernelTree:
        """The kernel's source as it is at this revision; Complaints when it is none."""
        return read_kernel_tree(self.folder)

    def revision(self) -> str:
        """The revision that the files are of."""
        return self._git("rev-parse", "HEAD").strip()

    def title(self, revision: str) -> str:
        """Abbreviated hash and subject of a commit."""
        return self._git("log", "--max-count=1", "--no-decorate", "--format=%h %s", revision).strip()

    def describe(self, revision: str) -> list[str]:
        """Whole hash, author, date and subject of a commit, and the files that it changes, a line each."""
        form = "--format=%H%n%an <%ae>, %ad%n%s"
        return self._git("show", "--stat", "--date=short", "--no-decorate", form, revision).splitlines()

    def begin(self, ends: Range) -> str | None:
        """Begin between two revisions, with the files of one in the middle; as `mark` returns."""
        return _first(self._git("bisect", "start", ends.bad, ends.good))

    def mark(self, state: str) -> str | None:
        """Say of the present revision that it is GOOD, BAD, or to SKIP, and go on to the next one. Returns the first
        bad commit where it is known now; Complaints when only commits are left that were skipped.
        """
        return _first(self._git("bisect", state, status=(0, 2)))

    def _git(self, *words: str, status: tuple[int, ...] = (0,)) -> str:
        done = _call(self.folder, *words)
        output = done.stdout.decode(errors="replace")
        if done.returncode not in status:
            said = (done.stderr.decode(errors="replace") or output).strip()
            raise Complaints.one(TREE, f"git {words[0]} failed: {said[-500:]}", code=Exit.FAILED)
        return output


@contextmanager
def cloned(ends: Range, place: Path) -> Iterator[History]:
    """A clone of the checkout in a new folder below `place`, gone at the end; no other one is there meanwhile.

    It borrows the checkout's objects, so that it takes no more room than the files of one revision.
    """
    with locked(place / "lock", "another search"):
        # What a killed one left behind.
        for old in place.iterdir():
            if old.is_dir():
                shutil.rmtree(old, ignore_errors=True)
        work = Path(tempfile.mkdtemp(dir=place))
        try:
            folder = work / ends.folder.name
            clone = ["clone", "--quiet", "--shared", "--no-checkout", "--", str(ends.folder), str(folder)]
            done = _call(work, *clone)
            if done.returncode:
                said = done.stderr.decode(errors="replace").strip()
                raise Complaints.one(TREE, f"can't be cloned: {said[-500:]}", code=Exit.FAILED)
            yield History(folder)
        finally:
            shutil.rmtree(work, ignore_errors=True)


def _first(said: str) -> str | None:
    if _ONLY_SKIPPED in said:
        what = "the commit isn't found: those that are left can't be built or run"
        raise Complaints.one(TREE, f"{what}\n{said.strip()}", code=Exit.FAILED)
    found = _FIRST_BAD.search(said)
    return found[1] if found else None


def _check_checkout(folder: Path) -> None:
    """Complaints when this is not the folder of a whole git checkout."""
    hint = "bisecting needs the history of the source"
    if not folder.is_dir():
        raise Complaints.one(TREE, f"there is no folder {str(folder)[:200]!r}", hint=hint)
    top = _call(folder, "rev-parse", "--show-toplevel")
    if top.returncode:
        said = top.stderr.decode(errors="replace").strip()
        raise Complaints.one(TREE, f"{str(folder)[:200]!r} is no git checkout: {said[-300:]}", hint=hint)
    home = Path(top.stdout.decode(errors="surrogateescape").rstrip("\n"))
    if home != folder.resolve():
        raise Complaints.one(TREE, f"{str(folder)[:200]!r} is a part of the checkout {home}", hint=f"tree={home}")
    shallow = _try(folder, "rev-parse", "--is-shallow-repository")
    if shallow and shallow.strip() == "true":
        raise Complaints.one(
            TREE, f"{str(folder)[:200]!r} is shallow: commits are missing", hint="git fetch --unshallow"
        )


def _commit(folder: Path, text: str) -> str:
    """The whole hash of a revision, empty for what is none."""
    return (_try(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{text}^{{commit}}") or "").strip()


def _try(folder: Path, *words: str) -> str | None:
    """What git prints, or None where it fails."""
    done = _call(folder, *words) if folder.is_dir() else None
    return done.stdout.decode(errors="replace") if done and done.returncode == 0 else None


def _call(folder: Path, *words: str) -> CompletedProcess[bytes]:
    # No variable that names another repository, no hooks and no translated words.
    own = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return program.run(
        ["git", "-c", "core.hooksPath=/dev/null", *words], folder=folder, environment={**own, "LC_ALL": "C"}
    )
