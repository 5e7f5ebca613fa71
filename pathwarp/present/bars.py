# SPDX-License-Identifier: Apache-2.0
"""One metric trace by trace, the variants side by side (closer19, Fig. 4, 6 and 7)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pathwarp.model.metrics import METRICS, Metric
from pathwarp.present import stats, style
from pathwarp.present.looks import Look
from pathwarp.present.numbers import show
from pathwarp.present.spread import spread
from pathwarp.results.reading import TrialResult

_GROUP_WIDTH = 0.8  # of the distance between two traces
_CROSS = {"color": style.INK, "linestyle": "", "marker": "x", "markersize": 4, "markeredgewidth": 1.2}
_MEAN = {"color": style.INK, "linestyle": (0, (5, 2)), "linewidth": 1.0}


def draw(
    trials: Mapping[str, Sequence[TrialResult]],
    looks: Mapping[str, Look],
    metric: str,
    title: str,
    subtitle: str,
    out_dir: Path,
    name: str,
) -> list[Path]:
    """Bars of `trials` ({variant: its trials under one traffic}) over the traces, and a line at each variant's mean.

    A trial without a value, such as a burst that never completes, has a cross on the axis in place of its bar.
    """
    shown = METRICS[metric]
    values = {
        variant: {trial.seed: trial.value(metric) for trial in trials_of} for variant, trials_of in trials.items()
    }
    traces = sorted({seed for by_seed in values.values() for seed in by_seed})
    named = [*(looks[variant].label for variant in values), *_extra(trials, metric)]
    with style.canvas(*_size(len(traces), len(values), style.legend_in(named))) as figure:
        means = {
            looks[variant].label: stats.mean([value for value in by_seed.values() if value is not None])
            for variant, by_seed in values.items()
        }
        axes = style.area(figure, right_in=_margin_in(means, shown))
        # Few traces: narrow bars, not slabs.
        width = _GROUP_WIDTH * min(1, (len(traces) + 1) / 10) / max(len(values), 1)
        for i, (variant, by_seed) in enumerate(values.items()):
            shift = (i - (len(values) - 1) / 2) * width
            _bars(axes, shift, width, traces, by_seed, looks[variant])
        highest = max((v for by_seed in values.values() for v in by_seed.values() if v is not None), default=1.0)
        axes.set_ylim(0, highest * 1.06)
        _means(axes, means, shown)
        axes.set_xticks(range(len(traces)), [str(trace) for trace in traces])
        axes.set_xlim(-0.7, len(traces) - 0.3)
        axes.tick_params(axis="x", length=0)
        axes.set_xlabel("trace")
        axes.set_ylabel(shown.titled)
        axes.yaxis.grid(True)
        style.heading(figure, title, subtitle)
        style.legend(figure, *_legend(axes, trials, metric))
        return style.save(figure, out_dir, name)


def _size(traces: int, variants: int, legend_in: float) -> tuple[float, float]:
    return max(legend_in, min(12.0, max(7.2, 1.6 + 0.22 * traces, 1.2 + 0.08 * traces * variants))), 3.6


def _mean_words(name: str, value: float, metric: Metric) -> str:
    return f"{name} {show(metric, value)}"


def _margin_in(means: Mapping[str, stats.Estimate | None], metric: Metric) -> float:
    """Room for the numbers at the right."""
    lengths = (len(_mean_words(name, mean.value, metric)) for name, mean in means.items() if mean)
    return 0.25 + 0.07 * max(lengths, default=0)


def _bars(
    axes: Any,
    shift: float,
    width: float,
    traces: Sequence[int],
    by_seed: Mapping[int, float | None],
    look: Look,
) -> None:
    heights = [by_seed.get(trace) or 0.0 for trace in traces]
    axes.bar([i + shift for i in range(len(traces))], heights, width, label=look.label, **look.bar)
    never = [i + shift for i, trace in enumerate(traces) if trace in by_seed and by_seed[trace] is None]
    # A little above the axis, or the axis would cut the cross in half.
    axes.plot(never, [0.02] * len(never), transform=axes.get_xaxis_transform(), clip_on=False, **_CROSS)


def _means(axes: Any, means: Mapping[str, stats.Estimate | None], metric: Metric) -> None:
    """A line at the mean of each variant and its number to the right of the axes, the numbers kept apart."""
    known = [(name, mean.value) for name, mean in means.items() if mean]
    top = axes.get_ylim()[1]
    heights = spread([value for _, value in known], 0.06 * top, 0, top)
    for (name, value), height in zip(known, heights, strict=True):
        axes.axhline(value, **_MEAN)
        axes.annotate(
            _mean_words(name, value, metric), (1, value), (1.012, height), xycoords=("axes fraction", "data"),
            textcoords=("axes fraction", "data"), va="center", fontsize=8, annotation_clip=False,
        )  # fmt: skip


def _legend(axes: Any, trials: Mapping[str, Sequence[TrialResult]], metric: str) -> tuple[list[Any], list[str]]:
    from matplotlib.lines import Line2D

    handles, labels = axes.get_legend_handles_labels()
    extra = _extra(trials, metric)
    return handles + [Line2D([], [], **look) for look in extra.values()], [*labels, *extra]


def _extra(trials: Mapping[str, Sequence[TrialResult]], metric: str) -> dict[str, dict[str, Any]]:
    """What the legend has beside the variants: label to look."""
    extra: dict[str, dict[str, Any]] = {"mean": _MEAN}
    empty = [trial for trials_of in trials.values() for trial in trials_of if trial.value(metric) is None]
    if empty:
        extra["never completed" if all(trial.incomplete for trial in empty) else "no value"] = _CROSS
    return extra
