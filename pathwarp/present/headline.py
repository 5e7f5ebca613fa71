# SPDX-License-Identifier: Apache-2.0
"""Which of a scenario's metrics a table or a figure is about."""

from collections.abc import Sequence

from pathwarp.model.metrics import METRICS
from pathwarp.results.reading import TrialResult, by_group


def by_headline(results: Sequence[TrialResult], metrics: Sequence[str]) -> dict[str, list[TrialResult]]:
    """{metric: trials}: for the trials of each traffic the first metric that applies; those of bursts need bursts."""
    found: dict[str, list[TrialResult]] = {}
    for variants in by_group(results).values():
        trials = [trial for of_variant in variants.values() for trial in of_variant]
        bursts = any(trial.metrics.get("burst_completion_time_ms", True) for trial in trials)
        apply = [metric for metric in metrics if bursts or not METRICS[metric].bursts]
        found.setdefault(next(iter(apply), metrics[0]), []).extend(trials)
    return found
