# SPDX-License-Identifier: Apache-2.0
"""The search for the first bad commit: a kernel and its guests for each step."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pathwarp.base.complaints import Complaints, Exit
from pathwarp.compare.bisect.history import BAD, GOOD, SKIP, TREE, History, Range, cloned
from pathwarp.compare.bisect.judges import Judge, Observation
from pathwarp.compare.bisect.leftovers import Leftovers
from pathwarp.model.kerneltree import KernelTree
from pathwarp.prepare.base import find_base

# So often the same may stop a step, one after the other, before it is put down to something else than the commits.
_MOST_ALIKE = 5
_THERE_ALREADY = "is in the source already"


def bisect(root: Path, ends: Range, judge: Judge, say: Callable[[str], None]) -> None:
    """Find the first commit whose kernel shows what the bad one does and not what the good one does; each step is said.

    A commit is bad when what is observed is nearer to that at the bad end than to that at the good one. One whose
    kernel can't be built or run, or shows no number, is skipped. Complaints when the two ends don't differ, the commit
    can't be found, or something else than the commits is wrong.
    """
    place = root / "build" / "bisect"
    with cloned(ends, place) as history, Leftovers(root, place / "made") as leftovers:
        search = _Search(root, history, judge, say)
        source = search.checkout(ends.bad)
        leftovers.note(source, keep=True)
        judge.begin(source)
        bad = search.end(BAD, source)
        source = search.checkout(ends.good)
        leftovers.note(source)
        good = search.end(GOOD, source)
        if good.value == bad.value:
            raise Complaints.one(TREE, f"both ends show the same: {good.words}", code=Exit.FAILED)
        found = history.begin(ends)
        while found is None:
            found = history.mark(search.step(good, bad, leftovers))
            leftovers.clear()
        say("\n".join(["", "the first bad commit:", *(f"    {line}".rstrip() for line in history.describe(found))]))


def judge_number(value: float, good: float, bad: float) -> str:
    """GOOD or BAD, whichever end's number this one is nearer to; SKIP where it is none and both ends have one."""
    if math.isinf(value) and not math.isinf(good) and not math.isinf(bad):
        return SKIP
    if math.isinf(bad) or math.isinf(good):
        return BAD if math.isinf(value) == math.isinf(bad) else GOOD
    return BAD if abs(value - bad) < abs(value - good) else GOOD


@dataclass
class _Search:
    root: Path
    history: History
    judge: Judge
    say: Callable[[str], None]
    # Of our patches what the bad end's kernel goes without, and what stopped the last steps.
    without: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)

    def checkout(self, revision: str) -> KernelTree:
        self.history.checkout(revision)
        return self.history.source()

    def end(self, state: str, source: KernelTree) -> Observation:
        """Look at an end, of which we know what it is."""
        seen = self.judge.observe(source)
        if state == BAD:
            self.without = self._left_out(source)
        self._tell(state, seen.words, source)
        return seen

    def step(self, good: Observation, bad: Observation, leftovers: Leftovers) -> str:
        """Look at the present revision; GOOD, BAD or SKIP. Complaints for what is not the commit's fault."""
        try:
            source = self.history.source()
            leftovers.note(source)
            seen = self.judge.observe(source)
        except Complaints as complaints:
            self.stopped.append(str(complaints))
            alike = self.stopped[-_MOST_ALIKE:].count(str(complaints)) == _MOST_ALIKE
            if complaints.code != Exit.FAILED or alike:
                raise
            self._tell(SKIP, str(complaints))
            return SKIP
        self.stopped.clear()
        state = judge_number(seen.value, good.value, bad.value)
        self._tell(state, seen.words, source)
        return state

    def _tell(self, state: str, words: str, source: KernelTree | None = None) -> None:
        lines = words.splitlines()
        others = sorted(set(self._left_out(source)) ^ set(self.without)) if source else []
        lines[1:] += [f"which of our patches it has is not as at the bad end: {', '.join(others)}"] if others else []
        title = self.history.title(self.history.revision())
        self.say("\n".join([f"{state:>4}  {title}: {lines[0]}", *(f"      {line}" for line in lines[1:])]))

    def _left_out(self, source: KernelTree) -> list[str]:
        """The patches and options of ours that its kernel goes without, but for those that it has itself."""
        lines = find_base(self.root, self.judge.kernels, source).left_out
        return [re.split(r": (?!asks)", line)[0] for line in lines if not line.endswith(_THERE_ALREADY)]
