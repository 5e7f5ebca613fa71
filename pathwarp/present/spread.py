# SPDX-License-Identifier: Apache-2.0
"""Places for labels along a line, so that no two overlap."""

from collections.abc import Sequence


def spread(wanted: Sequence[float], distance: float, low: float, high: float) -> list[float]:
    """Move the positions as little as needed to be `distance` apart and within low..high; their order is kept.

    Positions that don't all fit are spaced evenly.
    """
    if len(wanted) > 1 and (len(wanted) - 1) * distance > high - low:
        distance = (high - low) / (len(wanted) - 1)
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    # Neighbours that would touch form a block, which moves as one to the middle of what its members want.
    blocks: list[list[float]] = []
    for position, i in enumerate(order):
        blocks.append([wanted[i] - position * distance])
        while len(blocks) > 1 and _middle(blocks[-2]) >= _middle(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    free = [_middle(block) for block in blocks for _ in block]
    placed = [0.0] * len(wanted)
    room = high - (len(wanted) - 1) * distance
    for position, i in enumerate(order):
        placed[i] = min(max(free[position], low), room) + position * distance
    return placed


def _middle(block: Sequence[float]) -> float:
    return sum(block) / len(block)
