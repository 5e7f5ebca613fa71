# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them."""

from pathwarp.model.metrics import Metric


def show(metric: Metric, value: float, sign: bool = False) -> str:
    """A metric's value with its decimals; never "-0.0"."""
    return number(value, metric.decimals, sign)


def number(value: float, decimals: int, sign: bool = False) -> str:
    """A value as text; zero has no sign."""
    rounded = round(value, decimals) + 0.0
    return f"{rounded:{'+' if sign and rounded else ''}.{decimals}f}"
