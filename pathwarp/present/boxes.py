# SPDX-License-Identifier: Apache-2.0
"""Metrics of loss events as box plots, the variants side by side (rejection21, Fig. 3 to 6)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pathwarp.model.metrics import METRICS, Metric
from pathwarp.present import style
from pathwarp.present.looks import Look
from pathwarp.present.numbers import show
from pathwarp.results.reading import TrialResult, values_of

_REACH = 1.5  # of the distance between the quartiles
_WIDTH = 0.5
_PANEL_IN, _BOX_IN, _NARROWEST_IN = 1.2, 0.75, 3.4  # a panel's margins and axis, a box, the least for both
_OUTLIER = {"marker": "o", "markersize": 3, "linestyle": "", "markerfacecolor": "none", "markeredgewidth": 0.8}
_PUBLISHED = {"color": style.INK, "linestyle": "", "marker": "D", "markersize": 5, "markerfacecolor": "white"}


@dataclass(frozen=True)
class Box:
    """Quartiles, whiskers and what lies outside of them.

    The upper whisker is the last measurement below q3 + 1.5 (q3 - q1), the lower one the first above q1 - 1.5 (q3 - q1)
    (rejection21, section IV.A.1).
    """

    q1: float
    median: float
    q3: float
    low: float
    high: float
    outliers: tuple[float, ...]

    @classmethod
    def of(cls, values: Sequence[float]) -> "Box":
        """The box of one value or more; quartiles are linear between measurements."""
        ordered = sorted(values)
        q1, median, q3 = np.quantile(ordered, (0.25, 0.5, 0.75)).tolist()
        reach = _REACH * (q3 - q1)
        # Where q1 and q3 are equal nothing lies strictly inside; the quartile itself then ends the whisker.
        inside = [value for value in ordered if q1 - reach < value < q3 + reach] or [q1]
        low, high = min(inside[0], q1), max(inside[-1], q3)
        return cls(q1, median, q3, low, high, tuple(value for value in ordered if not low <= value <= high))


def draw(
    trials: Mapping[str, Sequence[TrialResult]],
    looks: Mapping[str, Look],
    metrics: Sequence[str],
    published: Mapping[str, Mapping[str, float]],
    title: str,
    subtitle: str,
    out_dir: Path,
    name: str,
) -> list[Path]:
    """A panel for each metric with a box for each variant of `trials`, and the published medians beside the boxes.

    `published` is {metric: {variant: median}}. A variant without a value has no box.
    """
    width = max(_PANEL_IN + _BOX_IN * len(trials), _NARROWEST_IN)
    with style.canvas(len(metrics) * width, 3.8) as figure:
        for number, metric in enumerate(metrics):
            left = number * width
            axes = style.area(figure, left_in=left + 0.85, right_in=figure.get_figwidth() - left - width + 0.15)
            _panel(axes, trials, looks, METRICS[metric], published.get(metric, {}))
        style.heading(figure, title, subtitle)
        style.legend(figure, *_legend(any(published.get(metric) for metric in metrics)))
        return style.save(figure, out_dir, name)


def _panel(
    axes: Any,
    trials: Mapping[str, Sequence[TrialResult]],
    looks: Mapping[str, Look],
    metric: Metric,
    published: Mapping[str, float],
) -> None:
    highest = max((value for variant, value in published.items() if variant in trials), default=0.0)
    for place, (variant, trials_of) in enumerate(trials.items()):
        values = [value for value in values_of(trials_of, metric.key).values() if value is not None]
        if values:
            highest = max(highest, *values)
            _box(axes, place, Box.of(values), looks[variant].bar, metric)
        if variant in published:
            axes.plot([place + 0.42], [published[variant]], zorder=4, **_PUBLISHED)
    axes.set_ylim(0, highest * 1.1 or 1.0)
    axes.set_xlim(-0.6, len(trials) - 0.3)
    axes.set_xticks(range(len(trials)), [looks[variant].label for variant in trials])
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel(metric.titled)
    axes.yaxis.grid(True)


def _box(axes: Any, place: int, box: Box, look: Mapping[str, Any], metric: Metric) -> None:
    quartiles = {"q1": box.q1, "med": box.median, "q3": box.q3}
    stats = {**quartiles, "whislo": box.low, "whishi": box.high, "fliers": box.outliers}
    line = {"color": style.INK, "linewidth": 0.9}
    axes.bxp(
        [stats], positions=[place], widths=_WIDTH, patch_artist=True, manage_ticks=False,
        boxprops={**look, "edgecolor": style.INK, "linewidth": 0.9}, medianprops={**line, "linewidth": 1.6},
        whiskerprops=line, capprops=line, flierprops=_OUTLIER,
    )  # fmt: skip
    axes.annotate(
        show(metric, box.median), (place, max(box.high, *box.outliers, 0.0)), (0, 3), textcoords="offset points",
        ha="center", fontsize=8,
    )  # fmt: skip


def _legend(with_published: bool) -> tuple[list[Any], list[str]]:
    from matplotlib.lines import Line2D

    looks: dict[str, dict[str, Any]] = {
        "median (the number)": {"color": style.INK, "linewidth": 1.6},
        "outlier": {**_OUTLIER, "color": style.INK},
    }
    if with_published:
        looks["published median"] = _PUBLISHED
    return [Line2D([], [], **look) for look in looks.values()], list(looks)
