# SPDX-License-Identifier: Apache-2.0
"""All figures of a scenario, from its sealed trials."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pathwarp.base.complaints import Complaint, gather
from pathwarp.measure.recovery import Recovery, read_recovery
from pathwarp.model.metrics import METRICS
from pathwarp.model.schema.scenario import Scenario
from pathwarp.model.schema.variant import ResolvedVariant
from pathwarp.present import bars, boxes, histogram, timing
from pathwarp.present.grids import draw_grids
from pathwarp.present.headline import by_headline
from pathwarp.present.looks import Look, looks_of
from pathwarp.results.reading import TrialResult, by_group


def draw_figures(
    scenario: Scenario,
    variants: Collection[ResolvedVariant],
    results: Sequence[TrialResult],
    out_dir: Path,
    complaints: list[Complaint],
) -> list[Path]:
    """Draw what docs/reference/figures.md describes, each as SVG and PNG, and return the files.

    Of a grid with several points these are figures over its axes, of a single point those of its trials. `variants` are
    those of the results. Where a trial's captures are unusable a diagram is left out, and `complaints`
    say why. Raises Complaints where a file cannot be written.
    """
    written, looks = [], looks_of(variants)
    if len({trial.point for trial in results}) > 1:
        return list(draw_grids(scenario, results, looks, out_dir))
    for traffic, trials in by_group(results).items():
        written += _summaries(scenario, traffic, trials, looks, out_dir)
        written += _timings(scenario, traffic, trials, looks, out_dir, complaints)
    return written


def _summaries(
    scenario: Scenario,
    traffic: str,
    trials: Mapping[str, Sequence[TrialResult]],
    looks: Mapping[str, Look],
    out_dir: Path,
) -> list[Path]:
    (metric,) = by_headline([trial for of_variant in trials.values() for trial in of_variant], scenario.metrics)
    if not METRICS[metric].bursts:
        return _boxes(scenario, traffic, trials, looks, metric, out_dir)
    title = f"{traffic.capitalize()} traffic: {METRICS[metric].words}, trace by trace"
    paths = bars.draw(trials, looks, metric, title, _subtitle(trials, scenario), out_dir, f"bars-{traffic}")
    hit = {
        variant: kept
        for variant, of_variant in trials.items()
        if (kept := [trial for trial in of_variant if trial.value(histogram.METRIC) is not None])
    }
    if hit:
        title = f"{traffic.capitalize()} traffic: where in its burst the first lost packet lies"
        paths += histogram.draw(hit, looks, title, _subtitle(hit, scenario), out_dir, f"loss-position-{traffic}")
    return paths


def _boxes(
    scenario: Scenario,
    traffic: str,
    trials: Mapping[str, Sequence[TrialResult]],
    looks: Mapping[str, Look],
    metric: str,
    out_dir: Path,
) -> list[Path]:
    """The headline and the reinjection rate, as the paper has them beside each other."""
    events = max(sum(len(trial.events) for trial in of_variant) for of_variant in trials.values())
    title = f"{METRICS[metric].words.capitalize()} and reinjection rate, {traffic} traffic"
    published = scenario.paper.published if scenario.paper else {}
    subtitle = f"{events} loss {'event' if events == 1 else 'events'} · {scenario.title}"
    metrics = list(dict.fromkeys([metric, "reinjection_rate"]))
    return boxes.draw(trials, looks, metrics, published, title, subtitle, out_dir, f"boxes-{traffic}")


def _subtitle(trials: Mapping[str, Sequence[TrialResult]], scenario: Scenario) -> str:
    traces = {trial.seed for of_variant in trials.values() for trial in of_variant}
    return f"{len(traces)} {'trace' if len(traces) == 1 else 'traces'} · {scenario.title}"


def _timings(
    scenario: Scenario,
    traffic: str,
    trials: Mapping[str, Sequence[TrialResult]],
    looks: Mapping[str, Look],
    out_dir: Path,
    complaints: list[Complaint],
) -> list[Path]:
    """A diagram for each variant, beside the baseline's of the same trace where there is one."""
    written = []
    for variant, of_variant in trials.items():
        if variant == scenario.baseline and len(trials) > 1:
            continue
        beside = trials.get(scenario.baseline, ()) if variant != scenario.baseline else ()
        chosen = typical(beside, of_variant, scenario.metrics[0])
        recoveries: list[Recovery] = []
        with gather(complaints):
            recoveries = [
                replace(found, variant=looks[trial.variant].label)
                for trial in chosen
                if (found := read_recovery(trial)) is not None
            ]
        if recoveries:
            title = f"{traffic.capitalize()} traffic: how the burst that meets the failure recovers"
            subtitle = f"trace {chosen[0].seed}, from its captures · {scenario.title}"
            written += timing.draw(recoveries, title, subtitle, out_dir, f"timing-{traffic}-{variant}")
    return written


def typical(baseline: Sequence[TrialResult], variant: Sequence[TrialResult], metric: str) -> tuple[TrialResult, ...]:
    """The pair of trials (the trial, without a baseline) in the middle of all when sorted by the metric's change.

    Both have met the failure in the same burst. Pairs where a burst never completes are the last choice.
    """
    partners = {trial.seed: trial for trial in baseline}
    hit = [trial for trial in variant if trial.metrics.get("affected_burst") is not None]
    pairs: list[tuple[TrialResult, ...]] = [(partners[trial.seed], trial) for trial in hit if trial.seed in partners]
    burst = "affected_burst"
    pairs = [pair for pair in pairs if pair[0].metrics.get(burst) == pair[1].metrics[burst]] or [(t,) for t in hit]
    changes = []
    for place, pair in enumerate(pairs):
        values = [value for trial in pair if (value := trial.value(metric)) is not None]
        if len(values) == len(pair):
            changes.append((values[-1] - (values[0] if len(values) > 1 else 0), pair[0].seed, place))
    if not changes:
        return pairs[0] if pairs else ()
    return pairs[sorted(changes)[(len(changes) - 1) // 2][-1]]
