# SPDX-License-Identifier: Apache-2.0
"""Metrics of sealed run folders: made from the raw files, and made again when other code had made them."""

import errno
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pathwarp.base import interrupt
from pathwarp.base.complaints import Complaint, Complaints, Exit, gather
from pathwarp.base.oserrors import advice
from pathwarp.base.sidebyside import side_by_side
from pathwarp.measure.code import measuring_code
from pathwarp.measure.metrics import measure
from pathwarp.results.folders import folders_of
from pathwarp.results.integrity import require_undamaged
from pathwarp.results.metricsfile import METRICS, State, record, state, write_metrics
from pathwarp.results.reading import TrialResult, Wanted, load_results, sound_manifest

# What a disk says that takes no metrics: then they are made for the moment, as results can be looked at there, too.
_NO_PLACE = (errno.EROFS, errno.EACCES, errno.EPERM)


@dataclass(frozen=True)
class Looked:
    """A sealed folder: what its metrics were, and what came of it.

    `unwritten` are metrics that were made, but that the folder doesn't take; `complaints` say why there are none.
    """

    folder: Path
    was: State | None = None
    unwritten: dict[str, Any] | None = None
    complaints: tuple[Complaint, ...] = ()


@dataclass
class Renewed:
    """Many sealed folders: how many metrics were of which kind before; those without metrics of now, and why."""

    was: Counter[State] = field(default_factory=Counter)
    unwritten: dict[Path, dict[str, Any]] = field(default_factory=dict)
    without: set[Path] = field(default_factory=set)
    complaints: list[Complaint] = field(default_factory=list)

    def add(self, looked: Looked) -> None:
        """Count a folder in."""
        self.complaints += looked.complaints
        if looked.complaints:
            self.without.add(looked.folder)
        elif looked.was:
            self.was[looked.was] += 1
        if looked.unwritten is not None:
            self.unwritten[looked.folder] = looked.unwritten

    @property
    def made(self) -> int:
        """How many metrics were made."""
        return self.was.total() - self.current

    @property
    def current(self) -> int:
        """How many were those of the measuring code of now."""
        return self.was[State.CURRENT]

    def lines(self) -> list[str]:
        """What was made and why, in a line for each reason."""
        told = (
            (State.OUTDATED, "measured again: the measuring code changed"),
            (State.MISSING, "measured: sealed without metrics"),
            (State.UNUSABLE, "measured again: the metrics could not be used"),
        )
        lines = [f"{_trials(self.was[was])} {words}" for was, words in told if self.was[was]]
        if self.unwritten:
            lines.append(f"{_trials(len(self.unwritten))} measured for now only: the metrics can't be written there")
        return lines


def renew(folders: Sequence[Path], jobs: int, mend: bool = False) -> Renewed:
    """Make the metrics of sealed folders that the measuring code of now didn't make, `jobs` at a time.

    Those that are damaged or of another format are made again only if this is to `mend`. What can't be measured goes
    to the complaints, and the others go on.
    """
    renewed = Renewed()
    code = measuring_code()
    stale = []
    for folder in folders:
        interrupt.check()
        looked = _look(folder, code)
        if looked.was in (State.OUTDATED, State.MISSING) or (mend and looked.was is State.UNUSABLE):
            stale.append(looked)
        else:
            renewed.add(looked)
    for looked in side_by_side(partial(_renew, code=code), stale, jobs):
        renewed.add(looked)
    return renewed


def measure_sealed(folder: Path, manifest: Mapping[str, Any], code: str) -> dict[str, Any]:
    """Make the metrics of a sealed folder from its raw files, write them, and return them.

    Complaints when the raw files can't be measured, OSError when the metrics can't be written.
    """
    return write_metrics(folder, measure(folder), code, manifest["files"])


def measured_results(
    results: Path, wanted: Sequence[Wanted], complaints: list[Complaint], command: str, jobs: int
) -> tuple[list[TrialResult], list[str]]:
    """The sealed trials that are wanted with metrics of the measuring code of now, and lines on what was made for that.

    As of `load_results`, what is wrong with single folders goes to `complaints`, and `command` is what runs the trials.
    """
    folders = [
        folder
        for one in wanted
        for *_, folder in folders_of(results, one.scenario, one.variants, one.traffics, one.seeds)
    ]
    renewed = renew(folders, jobs)
    complaints += renewed.complaints
    found = load_results(results, wanted, complaints, command, renewed.unwritten, renewed.without)
    return found, renewed.lines()


def _trials(number: int) -> str:
    return f"{number} trial{'' if number == 1 else 's'}"


def _look(folder: Path, code: str) -> Looked:
    """What a folder's metrics are, with the complaints about a manifest or about metrics that can't be used."""
    complaints: list[Complaint] = []
    with gather(complaints):
        manifest = sound_manifest(folder)
        was, unusable = state(folder, manifest, code)
        return Looked(folder, was, complaints=unusable.complaints if unusable else ())
    return Looked(folder, complaints=tuple(complaints))


def _renew(looked: Looked, code: str) -> Looked:
    folder = looked.folder
    complaints: list[Complaint] = []
    with gather(complaints):
        manifest = sound_manifest(folder)
        require_undamaged(folder, manifest)
        metrics = measure(folder)
        try:
            write_metrics(folder, metrics, code, manifest["files"])
        except OSError as error:
            if error.errno not in _NO_PLACE:
                where = str(folder / METRICS)
                what = f"can't be written: {error.strerror}"
                raise Complaints.one(where, what, hint=advice(error), code=Exit.FAILED) from None
            return Looked(folder, looked.was, record(metrics, code, manifest["files"]))
        return Looked(folder, looked.was)
    return Looked(folder, looked.was, complaints=tuple(complaints))
