# SPDX-License-Identifier: Apache-2.0
"""The table of a scenario's flows: what each got, in the mean over a variant's trials, and how evenly they share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import mean
from typing import Any

from pathwarp.results.reading import TrialResult, by_group, by_point

_Row = Mapping[str, Any]
# Heading, and the number of one trial; None where a flow has no such number.
_COLUMNS: tuple[tuple[str, Callable[[_Row], float | None], int], ...] = (
    ("goodput, Mbit/s", lambda row: row["goodput_mbps"], 2),
    ("packets", lambda row: row["packets_sent"], 0),
    ("lost, %", lambda row: 100 * row["lost_packets"] / row["packets_sent"] if row["packets_sent"] else None, 2),
    ("retransmitted", lambda row: row["retransmitted_packets"], 0),
    ("reinjected", lambda row: row["reinjected_packets"], 0),
    ("delay, median, ms", lambda row: row["delay_ms"].get("0.5"), 1),
    ("95 %", lambda row: row["delay_ms"].get("0.95"), 1),
)


def render_flows(results: Sequence[TrialResult]) -> Iterator[str]:
    """The lines of the table, for each point, traffic and variant; none where no trial lists flows."""
    for point, at_point in by_point(results).items():
        for traffic, trials in by_group(at_point).items():
            for variant, of_variant in trials.items():
                listed = [trial.metrics for trial in of_variant if trial.metrics.get("flows")]
                if listed:
                    yield from _render(", ".join([*(value for _, value in point), variant, traffic]), listed)


def _render(title: str, listed: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield f"\n{title}: flows, means of {len(listed)} {'trials' if len(listed) > 1 else 'trial'}\n"
    yield from _aligned(_rows(listed))
    for link, index in _indexes(listed).items():
        yield f"Jain's index of the {index[0]} flows on {link}: {index[1]:.3f}\n"


def _rows(listed: Sequence[Mapping[str, Any]]) -> Iterator[list[str]]:
    yield ["flow", "transport", "from", "to", *(heading for heading, _, _ in _COLUMNS)]
    for rows in zip(*(metrics["flows"] for metrics in listed), strict=True):
        first = rows[0]
        cells = [first["flow"], first["transport"], first["sender"], first["receiver"]]
        for _, number, decimals in _COLUMNS:
            values = [value for row in rows if (value := number(row)) is not None]
            cells.append(f"{mean(values):.{decimals}f}" if values else "-")
        yield cells


def _aligned(rows: Iterator[list[str]]) -> Iterator[str]:
    """Columns as wide as their widest cell: words to the left, numbers to the right."""
    table = list(rows)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = [
            cell.ljust(width) if place < 4 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip() + "\n"


def _indexes(listed: Sequence[Mapping[str, Any]]) -> dict[str, tuple[int, float]]:
    """Link to the number of its flows and their index, in the mean over the trials that have one."""
    found = {}
    for link, entry in listed[0]["fairness_index"].items():
        values = [metrics["fairness_index"][link]["index"] for metrics in listed]
        known = [value for value in values if value is not None]
        if known:
            found[link] = (entry["flows"], mean(known))
    return found
