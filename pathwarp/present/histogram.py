# SPDX-License-Identifier: Apache-2.0
"""Where in the burst the first loss lies (closer19, Fig. 2 and 3)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pathwarp.present import style
from pathwarp.present.looks import Look
from pathwarp.results.reading import TrialResult

METRIC = "loss_position_fraction"
BINS = 10


def draw(
    trials: Mapping[str, Sequence[TrialResult]],
    looks: Mapping[str, Look],
    title: str,
    subtitle: str,
    out_dir: Path,
    name: str,
) -> list[Path]:
    """Numbers of traces by loss position, in tenths of the burst, one bar per variant of `trials`.

    0 is the burst's first byte; 1, its end, belongs to the last tenth.
    """
    from matplotlib.ticker import MaxNLocator

    with style.canvas(max(7.2, style.legend_in([looks[variant].label for variant in trials])), 3.4) as figure:
        axes = style.area(figure)
        width = 0.84 / BINS / max(len(trials), 1)
        for i, (variant, trials_of) in enumerate(trials.items()):
            heights = tenths([trial.value(METRIC) for trial in trials_of])
            shift = (i - (len(trials) - 1) / 2) * width
            middles = [(tenth + 0.5) / BINS + shift for tenth in range(BINS)]
            axes.bar(middles, heights, width, label=looks[variant].label, **looks[variant].bar)
        axes.set_xlim(0, 1)
        axes.set_xticks([tenth / BINS for tenth in range(BINS + 1)])
        axes.set_ylim(0, max(1.0, axes.get_ylim()[1]))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.grid(True)
        axes.set_xlabel(
            "position of the first lost packet in its burst (0: first byte, 1: end, or lost between bursts)"
        )
        axes.set_ylabel("traces")
        style.heading(figure, title, subtitle)
        style.legend(figure, *axes.get_legend_handles_labels())
        return style.save(figure, out_dir, name)


def tenths(positions: Sequence[float | None]) -> list[int]:
    """How many positions lie in each tenth of 0..1; None, a trial without a loss, in none."""
    counts = [0] * BINS
    for position in positions:
        if position is not None:
            counts[min(int(position * BINS), BINS - 1)] += 1
    return counts
