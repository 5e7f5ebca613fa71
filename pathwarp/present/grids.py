# SPDX-License-Identifier: Apache-2.0
"""Figures over the points of a grid: lines over one axis, maps over two, and one of these for each value of more."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

from pathwarp.model.metrics import METRICS
from pathwarp.model.schema.grid import safe
from pathwarp.model.schema.scenario import Scenario
from pathwarp.present import curves, heatmap, stats
from pathwarp.present.headline import by_headline
from pathwarp.present.looks import Look
from pathwarp.present.stats import Estimate
from pathwarp.results.reading import TrialResult, by_group, values_of

Point = tuple[tuple[str, str], ...]


def draw_grids(
    scenario: Scenario, results: Sequence[TrialResult], looks: Mapping[str, Look], out_dir: Path
) -> Iterator[Path]:
    """Draw the headline metric over the axes of which the results have several values, and yield the files."""
    points = dict.fromkeys(trial.point for trial in results)
    every = [axis for axis, _ in next(iter(points))]
    values = {axis: list(dict.fromkeys(dict(point)[axis] for point in points)) for axis in every}
    moving = [axis for axis in every if len(values[axis]) > 1]
    shown, fixed = moving[-2:], moving[:-2]
    for traffic, variants in by_group(results).items():
        (metric,) = by_headline([trial for trials in variants.values() for trial in trials], scenario.metrics)
        title = f"{traffic.capitalize()} traffic: {METRICS[metric].words}"
        for chosen in product(*(values[axis] for axis in fixed)):
            at = dict(zip(fixed, chosen, strict=True))
            subtitle = " · ".join([*(f"{axis} {value}" for axis, value in at.items()), scenario.title])
            means = {
                variant: found
                for variant, trials in variants.items()
                if (
                    found := _means(
                        [trial for trial in trials if at.items() <= dict(trial.point).items()], metric, shown
                    )
                )
            }
            if not means:
                continue
            name = "-".join(["grid", traffic, *(safe(value) for value in chosen)])
            where = (looks, metric, title, subtitle, out_dir, name)
            if len(shown) == 1:
                flat = {variant: {key[0]: one for key, one in by_key.items()} for variant, by_key in means.items()}
                yield from curves.draw(shown[0], values[shown[0]], flat, *where, _lines(results, traffic, shown[0], at))
            else:
                pairs = {
                    variant: {(key[0], key[1]): one for key, one in keyed.items()} for variant, keyed in means.items()
                }
                first, second = shown
                yield from heatmap.draw((first, second), (values[first], values[second]), pairs, *where)
                if changes := _changes(pairs, scenario.baseline):
                    against = f"{title}, change against {looks[scenario.baseline].label}"
                    changed = (looks, metric, against, subtitle, out_dir, f"{name}-change", True)
                    yield from heatmap.draw((first, second), (values[first], values[second]), changes, *changed)
                for value in values[first] if any(trial.predicted_ms is not None for trial in results) else ():
                    flat = {
                        variant: {x: one for (y, x), one in by.items() if y == value} for variant, by in pairs.items()
                    }
                    below = (*where[:3], f"{first} {value} · points: measured, lines: predicted · {subtitle}", out_dir)
                    lines = _lines(results, traffic, second, {**at, first: value})
                    yield from curves.draw(second, values[second], flat, *below, f"{name}-{safe(value)}", lines)


def _changes(
    means: Mapping[str, Mapping[tuple[str, str], Estimate]], baseline: str
) -> dict[str, dict[tuple[str, str], Estimate]]:
    """What each other variant's mean has more than the baseline's, where both have one."""
    before = means.get(baseline, {})
    return {
        variant: {key: Estimate(one.value - before[key].value) for key, one in by_point.items() if key in before}
        for variant, by_point in means.items()
        if variant != baseline and before
    }


def _lines(
    results: Sequence[TrialResult], traffic: str, axis: str, at: Mapping[str, str]
) -> dict[str, dict[str, float]] | None:
    """What is predicted at each value of an axis, by variant: the mean over seeds; None where nothing is."""
    found: dict[str, dict[str, list[float]]] = {}
    for trial in results:
        point = dict(trial.point)
        if trial.traffic == traffic and trial.predicted_ms is not None and at.items() <= point.items():
            found.setdefault(trial.variant, {}).setdefault(point[axis], []).append(trial.predicted_ms)
    return {
        variant: {value: sum(own) / len(own) for value, own in by_value.items()} for variant, by_value in found.items()
    } or None


def _means(trials: Sequence[TrialResult], metric: str, axes: Sequence[str]) -> dict[tuple[str, ...], Estimate]:
    """The mean at each combination of values of these axes; none where no trial has a value."""
    groups: dict[tuple[str, ...], list[TrialResult]] = {}
    for trial in trials:
        groups.setdefault(tuple(dict(trial.point)[axis] for axis in axes), []).append(trial)
    found = {
        key: stats.mean([value for value in values_of(own, metric).values() if value is not None])
        for key, own in groups.items()
    }
    return {key: one for key, one in found.items() if one is not None}
