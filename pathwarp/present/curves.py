# SPDX-License-Identifier: Apache-2.0
"""One metric over the values of an axis of a grid, a line for each variant."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pathwarp.model.metrics import METRICS
from pathwarp.present import style
from pathwarp.present.looks import Look
from pathwarp.present.stats import Estimate

_MARKERS = "osD^vPX<>"
# Variants side by side at a value, so that equal ones don't hide each other; of the distance between two values.
_APART = 0.06


def draw(
    axis: str,
    values: Sequence[str],
    means: Mapping[str, Mapping[str, Estimate]],
    looks: Mapping[str, Look],
    metric: str,
    title: str,
    subtitle: str,
    out_dir: Path,
    name: str,
    predicted: Mapping[str, Mapping[str, float]] | None = None,
) -> list[Path]:
    """`means` are {variant: {value of the axis: mean}}, with bars at their 95 % intervals where they have one.

    With what is `predicted` the lines are that, and the means are points.
    """
    shown = METRICS[metric]
    legend_in = style.legend_in([looks[variant].label for variant in means])
    with style.canvas(max(legend_in, min(12.0, max(5.6, 1.6 + 0.7 * len(values)))), 3.6) as figure:
        axes = style.area(figure)
        for number, (variant, by_value) in enumerate(means.items()):
            shift = (number - (len(means) - 1) / 2) * _APART
            known = [(place + shift, by_value[value]) for place, value in enumerate(values) if value in by_value]
            ends = [one.bounds or (one.value, one.value) for _, one in known]
            axes.errorbar(
                [x for x, _ in known],
                [one.value for _, one in known],
                yerr=[
                    [one.value - low for (_, one), (low, _) in zip(known, ends, strict=True)],
                    [high - one.value for (_, one), (_, high) in zip(known, ends, strict=True)],
                ],
                label=looks[variant].label,
                color=looks[variant].bar["facecolor"],
                marker=_MARKERS[number % len(_MARKERS)],
                markersize=5,
                linewidth=0 if predicted else 1.2,
                elinewidth=0.8,
                capsize=2,
            )
            line = (predicted or {}).get(variant, {})
            told = [(place + shift, line[value]) for place, value in enumerate(values) if value in line]
            axes.plot([x for x, _ in told], [y for _, y in told], color=looks[variant].bar["facecolor"], linewidth=1.2)
        axes.set_xticks(range(len(values)), values)
        axes.set_xlim(-0.4, len(values) - 0.6)
        axes.set_ylim(bottom=0)
        axes.set_xlabel(axis)
        axes.set_ylabel(shown.titled)
        axes.yaxis.grid(True)
        style.heading(figure, title, subtitle)
        style.legend(figure, *axes.get_legend_handles_labels())
        return style.save(figure, out_dir, name)
