# SPDX-License-Identifier: Apache-2.0
"""Bursts, gaps, sizes and rates of traces in figures, the same for `show` and for docs/reference/traffic.md."""

import math
from collections.abc import Sequence
from statistics import fmean

from pathwarp.model.traces import Trace, packet_sizes

COLUMNS = ("", "mean", "least", "5 %", "median", "95 %", "most")


def rows(traces: Sequence[Trace], packet_bytes: int, duration_s: float) -> list[tuple[str, ...]]:
    """Lines of a table under COLUMNS, as text. Gaps and bursts of all traces are taken together."""
    bursts = [burst for trace in traces for burst in trace.bursts]
    gaps_s = [
        (after.start_ms - before.start_ms) / 1000
        for trace in traces
        for before, after in zip(trace.bursts, trace.bursts[1:], strict=False)
    ]
    quantities = (
        ("bursts per trace", 0, [len(trace.bursts) for trace in traces]),
        ("gap between starts, s", 2, gaps_s),
        ("burst size, kB", 2, [burst.size_bytes / 1000 for burst in bursts]),
        ("packets per burst", 0, [len(packet_sizes(burst.size_bytes, packet_bytes)) for burst in bursts]),
        ("payload per trace, MB", 2, [trace.size_bytes / 1e6 for trace in traces]),
        ("average rate, kbit/s", 1, [trace.size_bytes * 8 / duration_s / 1000 for trace in traces]),
    )
    return [_row(name, digits, values) for name, digits, values in quantities if values]


def _row(name: str, digits: int, values: Sequence[float]) -> tuple[str, ...]:
    ordered = sorted(values)
    # Nearest rank: every figure but the mean is a value that occurs.
    ranks = [ordered[max(0, math.ceil(share * len(ordered)) - 1)] for share in (0, 0.05, 0.5, 0.95, 1)]
    mean_digits = max(digits, 1)
    return (name, f"{fmean(values):.{mean_digits}f}", *(f"{value:.{digits}f}" for value in ranks))


def table(lines: Sequence[tuple[str, ...]]) -> str:
    """The lines under their headings, the figures aligned to the right."""
    grid = [COLUMNS, *lines]
    widths = [max(len(cell) for cell in column) for column in zip(*grid, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in grid
    )
