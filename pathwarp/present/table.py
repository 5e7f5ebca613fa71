# SPDX-License-Identifier: Apache-2.0
"""The closing table: one row per variant and traffic, as plain text of fixed width."""

from collections.abc import Sequence
from pathlib import Path

from pathwarp.model.metrics import METRICS, PREDICTED, Metric
from pathwarp.present import stats
from pathwarp.present.numbers import number, show
from pathwarp.present.stats import Comparison, Estimate
from pathwarp.results.reading import TrialResult, by_group, by_point, values_of

NONE = "-"
_INTERVAL = "95 % interval"


def render(
    results: Sequence[TrialResult],
    metric: str = "affected_burst_completion_time_ms",
    baseline: str | None = None,
    path: Path | str | None = None,
) -> str:
    """The table of one metric over these trials, with the change against `baseline` where that is among them.

    Rows of one point of a grid are together, its values in columns of their own. The last line names `path`, where the
    results are. A value that the trials don't give is shown as "-".
    """
    shown = METRICS[metric]
    points = by_point(results)
    groups = [
        (point, traffic, variants) for point, own in points.items() for traffic, variants in by_group(own).items()
    ]
    predicted = metric == PREDICTED and any(trial.predicted_ms is not None for trial in results)
    compared = baseline is not None and any(baseline in variants and len(variants) > 1 for _, _, variants in groups)
    axes = [axis for axis, _ in next(iter(points), ())]
    rows, notes = [], []
    for point, traffic, variants in groups:
        values = [value for _, value in point]
        before = values_of(variants.get(baseline, ()) if baseline else (), metric)
        for variant, trials in variants.items():
            comparison = None
            if before and variant != baseline:
                comparison = stats.compare(before, values_of(trials, metric))
            rows.append([*values, *_row(trials, metric, comparison, is_baseline=variant == baseline)])
            rows[-1][len(axes) + _BESIDE : len(axes) + _BESIDE] = _prediction(trials) if predicted else []
            notes += _notes(", ".join([*values, variant, traffic]), trials, metric, comparison)
    head = [*axes, *_head(shown)]
    # Behind the measured mean.
    more = _PREDICTION if predicted else []
    head[len(axes) + _BESIDE : len(axes) + _BESIDE] = more
    keep = [i for i, name in enumerate(head) if compared or i - len(axes) - len(more) not in _CHANGES]
    lines = [f"{_title(results, path)}: {shown.words}" if results else shown.words, ""]
    lines += aligned([[row[i] for i in keep] for row in [head, *rows]], len(axes) + 2)
    lines.append("")
    if compared:
        pairs = "seed and loss event" if _several(results) else "trace and seed"
        lines.append(f"change: against {baseline}, paired by {pairs}; in % as the ratio of means, Fieller's interval")
    elif baseline is not None and rows:
        lines.append(f"no change shown: there is nothing to compare with the baseline, {baseline}")
    if predicted:
        lines.append("predicted: by the formulas of the variant's timers; difference: measured - predicted")
    lines += notes
    lines += [f"results: {path}"] if path is not None else []
    return "\n".join(lines) + "\n"


_CHANGES = range(5, 9)
# Where the columns of what was predicted go.
_BESIDE = 5
_PREDICTION = ["predicted, ms", "difference, ms"]
_PREDICTION_DECIMALS = (1, 3)


def _title(results: Sequence[TrialResult], path: Path | str | None) -> str:
    """The name of the results' folder, that of all points of a grid where there are several."""
    several = len({trial.scenario for trial in results}) > 1
    return Path(path).name if several and path is not None else results[0].scenario


def _head(metric: Metric) -> list[str]:
    unit = f", {metric.unit}" if metric.unit else ""
    change = ["change" + unit, _INTERVAL, "change, %", _INTERVAL]
    return ["variant", "traffic", "n", "mean" + unit, _INTERVAL, *change, "incomplete"]


def _several(trials: Sequence[TrialResult]) -> bool:
    """Whether n counts loss events, of which a trial has several."""
    return any(len(trial.events) > 1 for trial in trials)


def _row(trials: Sequence[TrialResult], metric: str, comparison: Comparison | None, is_baseline: bool) -> list[str]:
    shown = METRICS[metric]
    values = [value for value in values_of(trials, metric).values() if value is not None]
    mean = stats.mean(values)
    cells = [trials[0].variant, trials[0].traffic, str(len(values))]
    cells += [show(shown, mean.value) if mean else NONE, _span(mean, shown.decimals)]
    if comparison is None:
        cells += ["baseline" if is_baseline else NONE, "", "", ""]
    else:
        cells += _change(comparison.difference, 1, shown.decimals) + _change(comparison.relative, 100, 1)
    return [*cells, str(sum(trial.incomplete for trial in trials))]


def _prediction(trials: Sequence[TrialResult]) -> list[str]:
    """The mean of what was predicted, and of the differences, over the trials that have both."""
    both = [
        (trial.predicted_ms, measured)
        for trial in trials
        if trial.predicted_ms is not None and (measured := trial.value(PREDICTED)) is not None
    ]
    if not both:
        return [NONE, NONE]
    means = (sum(one for one, _ in both) / len(both), sum(measured - one for one, measured in both) / len(both))
    signs = (False, True)
    return [number(*shown) for shown in zip(means, _PREDICTION_DECIMALS, signs, strict=True)]


def _change(estimate: Estimate | None, factor: int, decimals: int) -> list[str]:
    if estimate is None:
        return [NONE, NONE]
    return [number(factor * estimate.value, decimals, sign=True), _span(estimate, decimals, factor, sign=True)]


def _span(estimate: Estimate | None, decimals: int, factor: int = 1, sign: bool = False) -> str:
    if estimate is None or estimate.bounds is None:
        return NONE
    return " to ".join(number(factor * end, decimals, sign) for end in estimate.bounds)


def _notes(who: str, trials: Sequence[TrialResult], metric: str, comparison: Comparison | None) -> list[str]:
    """What the row's counts don't say by themselves."""
    notes = []
    lacking = sum(trial.lacks(metric) for trial in trials)
    if lacking:
        again = "`make measure` makes them again"
        notes.append(f"{who}: the metrics of {lacking} of {len(trials)} trials are older than this one; {again}")
    empty = sum(_empty(trial, metric) for trial in trials if not trial.lacks(metric))
    if empty:
        what = "loss events" if _several(trials) else "trials"
        why = METRICS[metric].absent
        number_of = len(values_of(trials, metric))
        notes.append(f"{who}: no value in {empty} of {number_of} {what}{', ' if why else ''}{why}")
    if comparison and comparison.dropped:
        together = comparison.pairs + comparison.dropped
        notes.append(f"{who}: {comparison.dropped} of {together} pairs left out, without a value on one side or both")
    return notes


def _empty(trial: TrialResult, metric: str) -> int:
    """How many of a trial's values are missing for another reason than that data never arrived."""
    missing = sum(value is None for value in trial.values(metric).values())
    return missing - min(missing, trial.incomplete)


def aligned(grid: Sequence[Sequence[str]], names: int = 2) -> list[str]:
    """Names, which are the first columns, to the left, figures to the right, two blanks between."""
    widths = [max(len(cell) for cell in column) for column in zip(*grid, strict=True)]
    lines = []
    for row in grid:
        cells = [
            cell.ljust(w) if i < names else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines
