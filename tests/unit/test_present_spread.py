# SPDX-License-Identifier: Apache-2.0
"""Labels keep apart, in order and inside."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathwarp.present.spread import spread


@given(st.lists(st.floats(0, 100), max_size=12), st.floats(0.1, 30))
def test_apart_in_order_inside(wanted: list[float], distance: float) -> None:
    placed = spread(wanted, distance, 0, 100)
    least = min(distance, 100 / max(len(wanted) - 1, 1))
    ordered = [placed[i] for i in sorted(range(len(wanted)), key=lambda i: wanted[i])]
    assert all(b - a >= least - 1e-6 for a, b in pairwise(ordered))
    assert all(-1e-6 <= place <= 100 + 1e-6 for place in placed)


def test_free_labels_stay_where_they_are() -> None:
    assert spread([50, 10, 90], 5, 0, 100) == [50, 10, 90]


def test_touching_labels_move_apart_evenly() -> None:
    assert spread([50, 50], 10, 0, 100) == [45, 55]
    assert spread([0, 0, 60], 10, 0, 100) == pytest.approx([0, 10, 60])
