# SPDX-License-Identifier: Apache-2.0
"""The search for the first bad commit: a kernel and its guests for each step."""

import math
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pathwarp.base.complaints import Complaints, Exit
from pathwarp.compare.bisect.history import BAD, GOOD, SKIP, TREE, History, Range, cloned
from pathwarp.compare.bisect.judges import Judge, Observation
from pathwarp.model.kerneltree import KernelTree
from pathwarp.prepare.base import built


def bisect(root: Path, ends: Range, judge: Judge, say: Callable[[str], None]) -> None:
    """Find the first commit whose kernel shows what the bad one does and not what the good one does; each step is said.

    A commit is bad when what is observed is nearer to that at the bad end than to that at the good one. One whose
    kernel can't be built or run is skipped. Complaints when the two ends don't differ, or the commit can't be found.
    """
    with cloned(ends, root / "build" / "bisect") as history, _trees(root) as keep:
        history.checkout(ends.bad)
        source = history.source()
        keep(source)
        judge.begin(source)
        bad = judge.observe(source)
        say(f"{BAD:>4}  {history.title(ends.bad)}: {bad.words}")
        history.checkout(ends.good)
        source = history.source()
        good = judge.observe(source)
        say(f"{GOOD:>4}  {history.title(ends.good)}: {good.words}")
        if good.value == bad.value:
            raise Complaints.one(TREE, f"both ends show the same: {good.words}", code=Exit.FAILED)
        found = history.begin(ends)
        while found is None:
            found = history.mark(_step(history, judge, good, bad, say))
            keep(None)
        say("\n".join(["", "the first bad commit:", *(f"    {line}".rstrip() for line in history.describe(found))]))


def is_bad(value: float, good: float, bad: float) -> bool:
    """Whether a number is nearer to the bad one than to the good one; infinite ones are near to themselves alone."""
    if math.isinf(bad) or math.isinf(good):
        return math.isinf(value) == math.isinf(bad)
    return abs(value - bad) < abs(value - good)


def _step(history: History, judge: Judge, good: Observation, bad: Observation, say: Callable[[str], None]) -> str:
    """Look at the present revision; GOOD, BAD or SKIP."""
    title = history.title(history.revision())
    try:
        seen = judge.observe(history.source())
    except Complaints as complaints:
        # What is wrong with the revision; a request to end is something else.
        say(f"{SKIP}  {title}: {complaints.complaints[0].where}: {complaints.complaints[0].what.splitlines()[0]}")
        return SKIP
    state = BAD if is_bad(seen.value, good.value, bad.value) else GOOD
    say(f"{state:>4}  {title}: {seen.words}")
    return state


@contextmanager
def _trees(root: Path) -> Iterator[Callable[[KernelTree | None], None]]:
    """What is made of sources meanwhile is gone at the end. The function that this gives keeps a source's until then,
    or, called without one, has all gone by now but those and the last one, which the next kernel is made from.
    """
    place = built(root, None) / "trees"
    before = set(place.glob("*"))
    kept: set[Path] = set()

    def keep(source: KernelTree | None) -> None:
        if source:
            kept.add(built(root, source))
            return
        new = sorted(set(place.glob("*")) - before - kept, key=lambda path: path.stat().st_mtime_ns)
        for path in new[:-1]:
            shutil.rmtree(path, ignore_errors=True)

    try:
        yield keep
    finally:
        for path in set(place.glob("*")) - before:
            shutil.rmtree(path, ignore_errors=True)
