# SPDX-License-Identifier: Apache-2.0
"""Metrics of sealed run folders, as the table and the figures take them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pathwarp.base import interrupt
from pathwarp.base.complaints import Complaint, Complaints, Exit, gather
from pathwarp.model.metrics import METRICS, Scope
from pathwarp.results.folders import folders_of
from pathwarp.results.integrity import require_undamaged
from pathwarp.results.metricsfile import read_metrics
from pathwarp.results.sealed import MANIFEST, read_manifest

_AGAIN = "remove the folder and run the trial again"


@dataclass(frozen=True)
class Wanted:
    """Trials to read: `scenario` is the name of their folder, `point` that of a grid which it belongs to.

    Without `seeds` all that are there.
    """

    scenario: str
    variants: Sequence[str]
    traffics: Sequence[str]
    seeds: Sequence[int] | None = None
    point: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class TrialResult:
    """One sealed trial: which one it was, where it lies, what was measured.

    `metrics` and `manifest` are the parsed files of that name; `seed` is the number of the trace, too. `predicted_ms`
    is the affected burst's completion by the formulas of the variant's timers, where it was asked for and can be told.
    """

    scenario: str
    variant: str
    traffic: str
    seed: int
    metrics: dict[str, Any]
    manifest: dict[str, Any] = field(default_factory=dict)
    folder: Path | None = None
    point: tuple[tuple[str, str], ...] = ()
    predicted_ms: float | None = None

    @property
    def events(self) -> list[dict[str, Any]]:
        """The trial's loss events, an entry for each failure."""
        events: list[dict[str, Any]] = self.metrics.get("loss_events", [])
        return events

    @property
    def incomplete(self) -> int:
        """How many failures took data that never arrived; 1 for a burst that met the failure and never completed."""
        if self.metrics.get("affected_burst") is not None:
            return int(self.metrics.get("affected_burst_completion_time_ms") is None)
        return sum(event["lost_packets"] > 0 and event["recovery_ms"] is None for event in self.events)

    def value(self, metric: str) -> float | None:
        """The number under that key; None without one: the burst never completed, or the metric says why else."""
        value = self.metrics.get(metric)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def values(self, metric: str) -> dict[tuple[int, int], float | None]:
        """The numbers under that key by seed and loss event: one for each event, or the trial's own as that of event 0.

        A trial of a single event has its own, which for a rate is that of the whole trial.
        """
        if self._by_events(metric):
            return {(self.seed, event["event"]): event.get(metric) for event in self.events}
        return {(self.seed, 0): self.value(metric)}

    def lacks(self, metric: str) -> bool:
        """Whether its metrics don't have that key at all, as those that older code made."""
        if self._by_events(metric):
            return any(metric not in event for event in self.events)
        return ("loss_events" if METRICS[metric].scope is Scope.EVENT else metric) not in self.metrics

    def _by_events(self, metric: str) -> bool:
        scope = METRICS[metric].scope
        return Scope.EVENT in scope and bool(self.events) and (len(self.events) > 1 or scope is Scope.EVENT)


def values_of(trials: Iterable[TrialResult], metric: str) -> dict[tuple[int, int], float | None]:
    """The numbers of several trials of one variant and traffic, by seed and loss event."""
    return {key: value for trial in trials for key, value in trial.values(metric).items()}


def load_results(
    results: Path,
    wanted: Sequence[Wanted],
    complaints: list[Complaint],
    command: str,
    unwritten: Mapping[Path, dict[str, Any]] | None = None,
    without: Collection[Path] = (),
) -> list[TrialResult]:
    """Read the sealed trials that are wanted, those of each entry ordered by traffic, variant, seed.

    A trial that was never run is left out: the table counts what is there. So is a folder that is not sealed, not
    measured or damaged, and what is wrong with it goes to `complaints`. Raises Complaints when the results hold nothing
    of what is asked for, with the `command` that runs it. `unwritten` has the metrics of folders that cannot hold them;
    folders `without` metrics are left out, as their complaints are there already.
    """
    found: list[TrialResult] = []
    for one in wanted:
        for variant, traffic, seed, folder in folders_of(results, one.scenario, one.variants, one.traffics, one.seeds):
            interrupt.check()
            if folder in without:
                continue
            with gather(complaints):
                manifest = sound_manifest(folder)
                metrics = (unwritten or {}).get(folder) or _metrics(folder, manifest)
                found.append(TrialResult(one.scenario, variant, traffic, seed, metrics, manifest, folder, one.point))
    if not found and not complaints:
        first = wanted[0]
        asked = f"{first.scenario}: {', '.join(first.variants)} under {', '.join(first.traffics)}"
        raise Complaints.one(str(results), f"no sealed trials of {asked}", hint=f"run them first: {command}")
    return found


def sound_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a sealed folder; Complaints when there is none, or it is not as it was sealed."""
    place = folder / MANIFEST
    try:
        manifest = read_manifest(folder)
    except FileNotFoundError:
        what = f"is not a sealed run folder: {MANIFEST} is missing"
        raise Complaints.one(str(folder), what, hint=_AGAIN, code=Exit.FAILED) from None
    except OSError as error:
        raise Complaints.one(str(place), f"cannot be read: {error.strerror}", hint=_AGAIN, code=Exit.FAILED) from None
    except ValueError as error:
        raise Complaints.one(str(place), str(error), hint=_AGAIN, code=Exit.FAILED) from None
    require_undamaged(folder, manifest, ())
    return manifest


def _metrics(folder: Path, manifest: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return read_metrics(folder, manifest).metrics
    except FileNotFoundError:
        hint = "`make measure` makes them from the raw files"
        raise Complaints.one(str(folder), "has no metrics", hint=hint, code=Exit.FAILED) from None


def by_point(results: Iterable[TrialResult]) -> dict[tuple[tuple[str, str], ...], list[TrialResult]]:
    """{point of the grid: trials}, in the order in which they first appear; one entry without a grid."""
    points: dict[tuple[tuple[str, str], ...], list[TrialResult]] = {}
    for result in results:
        points.setdefault(result.point, []).append(result)
    return points


def by_group(results: Iterable[TrialResult]) -> dict[str, dict[str, list[TrialResult]]]:
    """{traffic: {variant: trials}}, in the order in which they first appear."""
    groups: dict[str, dict[str, list[TrialResult]]] = {}
    for result in results:
        groups.setdefault(result.traffic, {}).setdefault(result.variant, []).append(result)
    return groups
