# SPDX-License-Identifier: Apache-2.0
"""One metric over two axes of a grid, a map for each variant, all of one scale."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from pathwarp.model.metrics import METRICS
from pathwarp.present import style
from pathwarp.present.looks import Look
from pathwarp.present.numbers import number
from pathwarp.present.stats import Estimate

_COLOURS, _MISSING = "viridis_r", "#EFEFEF"
# More columns than this, and there is no room for numbers in the cells.
_MOST_WITH_NUMBERS = 12
_CELL_IN, _ROW_IN, _LEFT_IN, _TOP_IN, _BOTTOM_IN, _RIGHT_IN = 0.55, 0.4, 1.1, 0.95, 0.75, 1.0


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
) -> list[Path]:
    """`means` are {variant: {(value of the first axis, of the second): mean}}; the first axis is the vertical one.

    A cell without a value is grey.
    """
    shown = METRICS[metric]
    rows, columns = values
    tables = {
        variant: np.array([[cells[y, x].value if (y, x) in cells else np.nan for x in columns] for y in rows])
        for variant, cells in means.items()
    }
    known = np.concatenate([table[~np.isnan(table)] for table in tables.values()])
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    map_in, gap_in = max(2.2, _CELL_IN * len(columns)), 0.35
    height = _TOP_IN + _BOTTOM_IN + max(1.4, _ROW_IN * len(rows))
    width = _LEFT_IN + _RIGHT_IN + len(tables) * map_in + (len(tables) - 1) * gap_in
    with style.canvas(width, height) as figure:
        drawn = None
        for place, (variant, table) in enumerate(tables.items()):
            left = _LEFT_IN + place * (map_in + gap_in)
            axes = figure.add_axes(
                (left / width, _BOTTOM_IN / height, map_in / width, 1 - (_TOP_IN + _BOTTOM_IN) / height)
            )
            axes.set_facecolor(_MISSING)
            drawn = axes.imshow(table, cmap=_COLOURS, vmin=low, vmax=high, origin="lower", aspect="auto")
            if len(columns) <= _MOST_WITH_NUMBERS:
                for (y, x), value in np.ndenumerate(table):
                    if not np.isnan(value):
                        dark = value > (low + high) / 2
                        colour = "white" if dark else style.INK
                        axes.text(x, y, number(value, 0), ha="center", va="center", fontsize=8, color=colour)
            axes.set_xticks(range(len(columns)), columns, rotation=0 if max(map(len, columns)) < 8 else 30)
            axes.set_yticks(range(len(rows)), rows if place == 0 else [""] * len(rows))
            axes.tick_params(length=0)
            axes.set_title(looks[variant].label, fontsize=9)
            axes.set_xlabel(axes_names[1])
            if place == 0:
                axes.set_ylabel(axes_names[0])
        bar = figure.add_axes(
            (1 - (_RIGHT_IN - 0.15) / width, _BOTTOM_IN / height, 0.14 / width, 1 - (_TOP_IN + _BOTTOM_IN) / height)
        )
        figure.colorbar(drawn, cax=bar).set_label(shown.titled if len(shown.titled) < 28 else shown.unit)
        style.heading(figure, title, subtitle)
        return style.save(figure, out_dir, name)
