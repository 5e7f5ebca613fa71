# SPDX-License-Identifier: Apache-2.0
"""One metric over two axes of a grid, a map for each variant, all of one scale."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pathwarp.model.metrics import METRICS
from pathwarp.present import style
from pathwarp.present.looks import Look
from pathwarp.present.numbers import number
from pathwarp.present.stats import Estimate

_COLOURS, _CHANGES, _MISSING = "viridis_r", "RdBu_r", "#EFEFEF"
# Where nothing changes, the scale needs two ends all the same.
_LEAST_CHANGE = 1e-3
_CHARACTERS_PER_IN = 13
# More columns than this, and there is no room for numbers in the cells.
_MOST_WITH_NUMBERS = 12
# From this ratio of the largest to the smallest value on, equal steps of colour are equal ratios.
_WIDE = 8
_MAPS_IN_A_ROW = 3
_CELL_IN, _ROW_IN = 0.36, 0.3
_LEFT_IN, _TOP_IN, _BOTTOM_IN, _RIGHT_IN, _ACROSS_IN, _BETWEEN_IN = 0.75, 0.85, 0.6, 1.0, 0.3, 0.4


def draw(
    axes_names: tuple[str, str],
    values: tuple[Sequence[str], Sequence[str]],
    means: Mapping[str, Mapping[tuple[str, str], Estimate]],
    looks: Mapping[str, Look],
    metric: str,
    title: str,
    subtitle: str,
    out_dir: Path,
    name: str,
    changes: bool = False,
) -> list[Path]:
    """`means` are {variant: {(value of the first axis, of the second): mean}}; the first axis is the vertical one.

    A cell without a value is grey. Of `changes` none is white, less is blue and more is red.
    """
    shown = METRICS[metric]
    rows, columns = values
    tables = {
        variant: np.array([[cells[y, x].value if (y, x) in cells else np.nan for x in columns] for y in rows])
        for variant, cells in means.items()
    }
    norm, colours = _scale(np.concatenate([table[~np.isnan(table)] for table in tables.values()]), changes)
    across = min(len(tables), _MAPS_IN_A_ROW)
    down = -(-len(tables) // across)
    longest = max(map(len, columns))
    map_in, tall_in = max(1.8, _CELL_IN * len(columns), 0.075 * longest * len(columns)), max(0.7, _ROW_IN * len(rows))
    width = _LEFT_IN + _RIGHT_IN + across * map_in + (across - 1) * _ACROSS_IN
    height = _TOP_IN + _BOTTOM_IN + down * tall_in + (down - 1) * _BETWEEN_IN
    with style.canvas(width, height) as figure:
        drawn = None
        for place, (variant, table) in enumerate(tables.items()):
            row, column = divmod(place, across)
            left = _LEFT_IN + column * (map_in + _ACROSS_IN)
            bottom = height - _TOP_IN - row * (tall_in + _BETWEEN_IN) - tall_in
            axes = figure.add_axes((left / width, bottom / height, map_in / width, tall_in / height))
            axes.set_facecolor(_MISSING)
            drawn = axes.imshow(table, cmap=colours, norm=norm, origin="lower", aspect="auto")
            if len(columns) <= _MOST_WITH_NUMBERS:
                for (y, x), value in np.ndenumerate(table):
                    if not np.isnan(value):
                        depth = abs(2 * norm(value) - 1) > 0.6 if changes else norm(value) > 0.5
                        text = number(value, 0, sign=changes)
                        colour = "white" if depth else style.INK
                        axes.text(x, y, text, ha="center", va="center", fontsize=6.5, color=colour)
            lowest = place + across >= len(tables)
            axes.set_xticks(range(len(columns)), columns if lowest else [""] * len(columns))
            axes.set_yticks(range(len(rows)), rows if column == 0 else [""] * len(rows))
            axes.tick_params(length=0)
            axes.set_title(looks[variant].label, fontsize=9, pad=4)
            if lowest:
                axes.set_xlabel(axes_names[1])
            if column == 0:
                axes.set_ylabel(axes_names[0])
        bar = figure.add_axes(
            (1 - (_RIGHT_IN - 0.15) / width, _BOTTOM_IN / height, 0.14 / width, 1 - (_TOP_IN + _BOTTOM_IN) / height)
        )
        ticks = figure.colorbar(drawn, cax=bar)
        words = f"change, {shown.unit}" if changes else shown.titled
        ticks.set_label(words if len(words) < _CHARACTERS_PER_IN * (height - _TOP_IN - _BOTTOM_IN) else shown.unit)
        if not changes:
            _mark(ticks, norm.vmin, norm.vmax)
        style.heading(figure, title, subtitle)
        return style.save(figure, out_dir, name)


def _scale(known: np.ndarray, changes: bool) -> tuple[Any, str]:
    """The scale over all values, over ratios where these are far apart, and the colours on it."""
    from matplotlib.colors import LogNorm, Normalize

    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    if changes:
        most = max(-low, high, _LEAST_CHANGE)
        return Normalize(-most, most), _CHANGES
    return LogNorm(low, high) if 0 < low * _WIDE < high else Normalize(low, high), _COLOURS


def _mark(bar: Any, low: float, high: float) -> None:
    """On a scale of ratios, numbers that begin with 1, 2 or 5 beside the colours."""
    if 0 < low * _WIDE < high:
        marks = [lead * 10**power for power in range(-3, 7) for lead in (1, 2, 5)]
        inside = [mark for mark in marks if low <= mark <= high]
        bar.set_ticks(inside, labels=[f"{mark:g}" for mark in inside])
        bar.minorticks_off()
