# SPDX-License-Identifier: Apache-2.0
"""One of the two trials that are compared."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pathwarp.base.complaints import Complaint, Complaints
from pathwarp.compare.packets.sightings import Sightings, collect
from pathwarp.measure.analysis import Analysis, analyse
from pathwarp.measure.inputs import counter_changes

PLAN = "logs/plan.json"


@dataclass(frozen=True)
class Side:
    """A run folder, read; `name` tells it from the other one: its variant, or with the same variant also a letter."""

    name: str
    folder: Path
    analysis: Analysis
    sightings: Sightings

    @cached_property
    def counters(self) -> dict[str, int]:
        """By how much the sender's counters grew."""
        return counter_changes(self.folder).get(self.analysis.inputs.ends[0], {})


def require_run_folders(*folders: Path) -> None:
    """Raise Complaints for each that is no run folder."""
    # Not Path.is_file, for which a name that is too long is an error of its own.
    strangers = [folder for folder in folders if not os.path.isfile(folder / PLAN)]
    if strangers:
        hint = "results/SCENARIO/VARIANT/TRAFFIC/seed-NNN is one"
        raise Complaints(
            Complaint(str(folder), f"is not a run folder: it has no {PLAN}", hint=hint) for folder in strangers
        )


def read_sides(one: Path, two: Path) -> tuple[Side, Side]:
    """Read two run folders; Complaints for what is none, or cannot be measured."""
    folders = (one, two)
    require_run_folders(*folders)
    complaints: list[Complaint] = []
    analyses: list[Analysis] = []
    for folder in folders:
        try:
            analyses.append(analyse(folder))
        except Complaints as found:
            complaints += found.complaints
            code = found.code
    if complaints:
        raise Complaints(complaints, code)
    variants = [analysis.inputs.plan["variant"] for analysis in analyses]
    names = variants if variants[0] != variants[1] else [f"{variants[0]}-{letter}" for letter in "ab"]
    first, second = (
        Side(name, folder, analysis, collect(analysis.inputs, analysis.connection, analysis.decoded))
        for name, folder, analysis in zip(names, folders, analyses, strict=True)
    )
    return first, second
