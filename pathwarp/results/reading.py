# SPDX-License-Identifier: Apache-2.0
"""Metrics of sealed run folders, as the table and the figures take them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pathwarp.base import interrupt
from pathwarp.base.complaints import Complaint, Complaints, gather
from pathwarp.base.jsonfile import read_mapping
from pathwarp.results.integrity import require_undamaged

SEALED_FILES = ("manifest.json", "metrics.json")
# What only traffic in bursts has.
BURST_METRICS = ("affected_burst_completion_time_ms", "loss_position_fraction")
_SEED = re.compile(r"seed-(\d+)")


@dataclass(frozen=True)
class TrialResult:
    """One sealed trial: which one it was, where it lies, what was measured.

    `metrics` and `manifest` are the parsed files of that name; `seed` is also the number of the trace.
    """

    scenario: str
    variant: str
    traffic: str
    seed: int
    metrics: dict[str, Any]
    manifest: dict[str, Any] = field(default_factory=dict)
    folder: Path | None = None

    @property
    def events(self) -> list[dict[str, Any]]:
        """The trial's loss events, an entry for each failure."""
        return self.metrics.get("loss_events", [])

    @property
    def incomplete(self) -> int:
        """How many failures took data that never arrived; 1 for a burst that met the failure and never completed."""
        if self.metrics.get("affected_burst") is not None:
            return int(self.metrics.get("affected_burst_completion_time_ms") is None)
        return sum(event["lost_packets"] > 0 and event["recovery_ms"] is None for event in self.events)

    def value(self, metric: str) -> float | None:
        """The number under that key; None without one: the burst never completed, or the failure met no burst."""
        value = self.metrics.get(metric)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def values(self, metric: str) -> dict[tuple[int, int], float | None]:
        """The numbers under that key by seed and loss event: one for each event, or the trial's own as that of event 0.

        A trial of a single event has its own, which for a rate is that of the whole trial.
        """
        if len(self.events) > 1 and metric in self.events[0]:
            return {(self.seed, event["event"]): event[metric] for event in self.events}
        return {(self.seed, 0): self.value(metric)}


def values_of(trials: Iterable[TrialResult], metric: str) -> dict[tuple[int, int], float | None]:
    """The numbers of several trials of one variant and traffic, by seed and loss event."""
    return {key: value for trial in trials for key, value in trial.values(metric).items()}


def by_headline(results: Sequence[TrialResult], metrics: Sequence[str]) -> dict[str, list[TrialResult]]:
    """{metric: trials}: for the trials of each traffic the first metric that applies; those of bursts need bursts."""
    found: dict[str, list[TrialResult]] = {}
    for variants in by_group(results).values():
        trials = [trial for of_variant in variants.values() for trial in of_variant]
        bursts = any(trial.metrics.get("burst_completion_time_ms", True) for trial in trials)
        apply = [metric for metric in metrics if bursts or metric not in BURST_METRICS]
        found.setdefault(next(iter(apply), metrics[0]), []).extend(trials)
    return found


def load_results(
    results_dir: Path,
    scenario: str,
    variants: Sequence[str],
    traffics: Sequence[str],
    seeds: Sequence[int] | None = None,
) -> list[TrialResult]:
    """Read the sealed trials of these names, ordered by traffic, variant, seed; without `seeds` all that are there.

    A trial that was never run is left out: the table counts what is there. A folder that is not sealed or not measured
    is a complaint, and so are results that hold nothing of what is asked for. Raises Complaints.
    """
    found: list[Complaint] = []
    results: list[TrialResult] = []
    for traffic in traffics:
        for variant in variants:
            parent = results_dir / scenario / variant / traffic
            for seed, folder in _folders(parent, seeds):
                interrupt.check()
                files = [_parse(folder / name, found) for name in SEALED_FILES]
                if all(parsed is not None for parsed in files):
                    manifest, metrics = files
                    with gather(found):
                        require_undamaged(folder, manifest, SEALED_FILES)
                        results.append(TrialResult(scenario, variant, traffic, seed, metrics, manifest, folder))
    if not results and not found:
        asked = f"{scenario}: {', '.join(variants)} under {', '.join(traffics)}"
        hint = f"run them first: make scenario={scenario} variant={','.join(variants)} traffic={','.join(traffics)}"
        found.append(Complaint(str(results_dir), f"no sealed trials of {asked}", hint=hint))
    if found:
        raise Complaints(found)
    return results


def by_group(results: Iterable[TrialResult]) -> dict[str, dict[str, list[TrialResult]]]:
    """{traffic: {variant: trials}}, in the order in which they first appear."""
    groups: dict[str, dict[str, list[TrialResult]]] = {}
    for result in results:
        groups.setdefault(result.traffic, {}).setdefault(result.variant, []).append(result)
    return groups


def _folders(parent: Path, seeds: Sequence[int] | None) -> list[tuple[int, Path]]:
    if not parent.is_dir():
        return []
    present = {int(match[1]): path for path in parent.iterdir() if (match := _SEED.fullmatch(path.name))}
    return [(seed, present[seed]) for seed in (sorted(present) if seeds is None else seeds) if seed in present]


def _parse(path: Path, found: list[Complaint]) -> dict[str, Any] | None:
    """The JSON object in a file of a run folder; None, and a complaint, where there is none."""
    try:
        return read_mapping(path)
    except FileNotFoundError:
        found.append(Complaint(str(path.parent), f"is not a sealed run folder: {path.name} is missing", hint=_AGAIN))
    except OSError as error:
        found.append(Complaint(str(path), f"cannot be read: {error.strerror}", hint=_AGAIN))
    except ValueError as error:
        found.append(Complaint(str(path), str(error), hint=_AGAIN))
    return None


_AGAIN = "remove the folder and run the trial again"
