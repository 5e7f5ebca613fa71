# SPDX-License-Identifier: Apache-2.0
"""How far the trials are: a bar on a terminal, plain lines elsewhere."""

import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pathwarp.run.worker import Outcome


class Progress:
    """Reports each trial as it ends; on a terminal a bar stays below the lines.

    `describe` has the words for the outcome of a trial that did not fail, `noun` what they are called.
    """

    def __init__(self, total: int, sealed: int, describe: "Callable[[Outcome], str]", noun: str = "trials") -> None:
        self.total = total
        self.describe = describe
        self.done = 0
        self._bar = None
        if sealed:
            print(f"{sealed} of {sealed + total} {noun} are sealed already", flush=True)
        if total and sys.stdout.isatty():
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = (TextColumn(noun), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._bar = Bar(*columns, transient=True)
            self._task = self._bar.add_task(noun, total=total)

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar:
            self._bar.stop()

    def report(self, outcome: "Outcome") -> None:
        """Say how an attempt at a trial went, in one line (more when it failed)."""
        self.done += not outcome.again
        text = self.describe(outcome) if not outcome.reason else f"FAILED: {outcome.reason}"
        if outcome.again:
            text = f"attempt {outcome.job.attempt} failed, it is tried again: {outcome.reason}"
        line = f"[{self.done:{len(str(self.total))}}/{self.total}] {outcome.job.trial.title}: {text}"
        if self._bar:
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
            self._bar.update(self._task, completed=self.done)
        else:
            print(line, flush=True)
