# SPDX-License-Identifier: Apache-2.0
"""Points of a scenario's grid: a value of each axis, and what these come to in the data files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from pathwarp.base.complaints import Complaint, Complaints
from pathwarp.model.catalogue import suggest
from pathwarp.model.overrides import Override
from pathwarp.model.schema.grid import Axis, safe

OPTION = "at"
MOST_POINTS = 10_000
# Of more, nobody wants to know how many exactly.
_MOST_TO_COUNT = 1_000_000


@dataclass(frozen=True)
class Point:
    """`values` are axis and name of the value, in the grid's order; empty for a scenario without a grid."""

    values: tuple[tuple[str, str], ...] = ()
    overrides: tuple[Override, ...] = ()

    @property
    def label(self) -> str:
        """As part of a folder's name: `@loss=1pct,rtt=12ms`."""
        return "@" + ",".join(f"{axis}={safe(name)}" for axis, name in self.values) if self.values else ""

    def __str__(self) -> str:
        return ",".join(f"{axis}={name}" for axis, name in self.values)


# That of a scenario without a grid.
NO_POINT = Point()


def points_of(
    grid: Mapping[str, Axis],
    at: tuple[tuple[str, str], ...],
    own: tuple[Override, ...],
    many: bool = False,
    where: str = "grid",
) -> list[Point]:
    """The points of a grid that `at` lets through: of each axis that it names, one of the values that it names.

    `own` are the user's overrides, which may not set what an axis sets. Raises Complaints for those, for names that
    there are not, and for more than MOST_POINTS points unless `many` are wanted; `where` is the place of the grid.
    """
    complaints = list(_complaints(grid, at, own))
    if complaints:
        raise Complaints(complaints)
    wanted = {axis: [name for name in grid[axis].values if (axis, name) in at] for axis, _ in at}
    names = [wanted.get(axis) or list(grid[axis].values) for axis in grid]
    number = prod(map(len, names))
    if MOST_POINTS < number <= _MOST_TO_COUNT:
        number = sum(1 for _ in _chosen(grid, names))
    if number > MOST_POINTS and not many:
        raise Complaints.one(where, f"has {number} points", f"at most {MOST_POINTS}", "choose with at=, or add yes=1")
    return [_point(grid, chosen) for chosen in _chosen(grid, names)]


def _chosen(grid: Mapping[str, Axis], names: Sequence[Sequence[str]]) -> Iterator[tuple[tuple[str, str], ...]]:
    """A value of each axis in turn, without those ahead of the value that an axis begins at."""
    places = {axis: {name: place for place, name in enumerate(one.values)} for axis, one in grid.items()}
    starts = [(axis, one.start) for axis, one in grid.items() if one.start is not None]
    for values in product(*names):
        at = dict(zip(grid, values, strict=True))
        if all(places[axis][at[axis]] >= places[start][at[start]] for axis, start in starts):
            yield tuple(at.items())


def _point(grid: Mapping[str, Axis], values: tuple[tuple[str, str], ...]) -> Point:
    overrides = [override for axis, name in values for override in grid[axis].overrides(name)]
    return Point(values, tuple(sorted(overrides)))


def _complaints(
    grid: Mapping[str, Axis], at: tuple[tuple[str, str], ...], own: tuple[Override, ...]
) -> Iterator[Complaint]:
    for axis, name in at:
        if axis not in grid:
            valid = ", ".join(grid) or "none: the scenario has no grid"
            yield Complaint(f"{OPTION}={axis}={name}", f"there is no axis {axis!r}", valid, suggest(axis, list(grid)))
        elif name not in grid[axis].values:
            names = list(grid[axis].values)
            what = f"{name!r} is no value of the axis"
            yield Complaint(f"{OPTION}={axis}={name}", what, ", ".join(names[:20]), suggest(name, names))
    for override in own:
        for axis in (axis for axis, one in grid.items() if any(_within(override.path, path) for path in one.paths)):
            what = f"is what the axis {axis} of the grid sets"
            yield Complaint(f"set={override}"[:120], what, "", f"choose with at={axis}=…")


def _within(path: str, key: str) -> bool:
    """Whether a path is a key, or leads to a part of what is there."""
    return f"{path}.".startswith(f"{key}.")
