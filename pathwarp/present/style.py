# SPDX-License-Identifier: Apache-2.0
"""One look for all figures, and files that are the same bytes for the same input."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from textwrap import shorten
from typing import Any

from pathwarp.base import interrupt
from pathwarp.base.complaints import Complaints, Exit

INK, QUIET, PALE = "#222222", "#6B6B6B", "#D9D9D9"

_RC: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica", "sans-serif"],
    "font.size": 9,
    "axes.titlesize": 11,
    "axes.labelsize": 9,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": PALE,
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "text.color": INK,
    # A $ in a title is a $.
    "text.parse_math": False,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    # Text stays text, and ids come from the content: the same figure is the same file.
    "svg.fonttype": "none",
    "svg.hashsalt": "pathwarp",
    "path.simplify": False,
}
_PNG_DPI = 200
_CHARACTERS_PER_IN = 13  # of 9 point text


@contextmanager
def canvas(width_in: float, height_in: float) -> Iterator[Any]:
    """An empty matplotlib Figure in the project's style; draw and save it inside the block.

    The figure belongs to no display and to no global state.
    """
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_RC)
        yield Figure(figsize=(width_in, height_in))


def save(figure: Any, out_dir: Path, name: str) -> list[Path]:
    """Write NAME.svg and NAME.png into `out_dir`, which is made; return the paths. Raises Complaints where it can't."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    kinds = {"svg": {"Date": None, "Creator": "pathwarp"}, "png": {"Software": "pathwarp"}}
    paths = []
    for kind, metadata in kinds.items():
        # Drawn first, then written in one go: what fails or is killed while it draws leaves the old file.
        interrupt.check()
        drawn = BytesIO()
        figure.savefig(drawn, format=kind, dpi=_PNG_DPI, metadata=metadata)
        path = out_dir / f"{name}.{kind}"
        try:
            out_dir.mkdir(parents=True, exist_ok=True)
            path.write_bytes(drawn.getvalue())
        except OSError as error:
            raise Complaints.one(str(path), f"cannot be written: {error.strerror}", code=Exit.FAILED) from None
        paths.append(path)
    return paths


def area(
    figure: Any, right_in: float = 0.2, left_in: float = 0.75, top_in: float = 0.65, bottom_in: float = 0.85
) -> Any:
    """Axes with these margins; what stands in the margins has a known size, so no layout engine is needed."""
    width, height = figure.get_size_inches()
    across, down = width - left_in - right_in, height - top_in - bottom_in
    return figure.add_axes((left_in / width, bottom_in / height, across / width, down / height))


def heading(figure: Any, title: str, subtitle: str) -> None:
    """Title in words, and below it what it was made from, in the top margin; a subtitle that is too long is cut."""
    width, height = figure.get_size_inches()
    subtitle = shorten(subtitle, int(width * _CHARACTERS_PER_IN), placeholder=" …")
    figure.text(0.15 / width, 1 - 0.12 / height, title, fontsize=11, fontweight="bold", va="top")
    figure.text(0.15 / width, 1 - 0.34 / height, subtitle, color=QUIET, va="top")


def legend_in(labels: Sequence[str]) -> float:
    """The width, in inches, of a figure whose legend holds these labels in one line."""
    return 0.2 + sum(0.5 + len(label) / _CHARACTERS_PER_IN for label in labels)


def legend(figure: Any, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """One line at the foot of the figure."""
    width, height = figure.get_size_inches()
    where = (0.1 / width, 0.05 / height)
    look = {"handlelength": 1.6, "handletextpad": 0.6, "columnspacing": 1.6}
    figure.legend(handles, labels, loc="lower left", bbox_to_anchor=where, ncols=len(labels), **look)
