# SPDX-License-Identifier: Apache-2.0
"""Model of an axis of a grid: keys of the data files that change together, and the values that they take in turn."""

import json
import re
from collections.abc import Iterator
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from pathwarp.base.complaints import BadValue
from pathwarp.model.overrides import Override, is_path
from pathwarp.model.schema.common import Name, Part

MOST_AXES, MOST_VALUES = 8, 1_000
# What a value is called in a folder's name, of which file systems take 255 bytes.
_LONGEST_LABEL = 40


def read_paths(value: object) -> tuple[str, ...]:
    """One path as an override has it, or a list of those."""
    paths = value if isinstance(value, list) else [value]
    if not paths or not all(isinstance(path, str) and is_path(path) for path in paths):
        raise BadValue("names no key", "a path such as topology.paths.wlan.down.loss, or a list of those")
    if len(set(paths)) < len(paths):
        raise BadValue("names a key twice")
    return tuple(paths)


def read_values(value: object) -> dict[str, Any]:
    """`[0 %, 1 %]`, each called as it is written, or `{none: 0 %, much: 1 %}`."""
    if isinstance(value, list) and not any(isinstance(one, list | dict) for one in value):
        value = {_written(one): one for one in value} if len({_written(one) for one in value}) == len(value) else None
    if not isinstance(value, dict) or not value:
        raise BadValue("are no values", "a list of different ones, or a mapping of a name for each to the value")
    if len(value) > MOST_VALUES:
        raise BadValue(f"are {len(value)} values", f"at most {MOST_VALUES}")
    names = {str(name): safe(str(name)) for name in value}
    bad = [name for name, text in names.items() if not 1 <= len(text) <= _LONGEST_LABEL or "," in name or "=" in name]
    if bad:
        raise BadValue(f"has the name {bad[0][:60]!r}", f"1 to {_LONGEST_LABEL} characters without , and =")
    if len(set(names.values())) < len(names):
        raise BadValue("have names that are the same in a folder's name", "names that differ in letters or digits")
    return {str(name): one for name, one in value.items()}


def check_grid(grid: dict[str, "Axis"]) -> dict[str, "Axis"]:
    """Refuse axes that set the same key, and those that begin at another one's value and can't.

    A part of what another axis sets may be set on top of that.
    """
    owners: dict[str, list[str]] = {}
    for name, axis in grid.items():
        for path in axis.paths:
            owners.setdefault(path, []).append(name)
    wrong = [f"{' and '.join(names)} both set {path}" for path, names in owners.items() if len(names) > 1]
    wrong += _wrong_starts(grid)
    if wrong:
        valid = "axes that set different keys; `from` names an axis ahead, with the same values"
        raise BadValue("; ".join(wrong), valid)
    return grid


def _wrong_starts(grid: dict[str, "Axis"]) -> Iterator[str]:
    """The axes that begin at another one's value where that one is not ahead of them, or has other values."""
    ahead: dict[str, Axis] = {}
    for name, axis in grid.items():
        if axis.start is not None and axis.start not in ahead:
            yield f"{name} begins at {axis.start!r}, which is no axis ahead of it"
        elif axis.start is not None and list(axis.values) != list(ahead[axis.start].values):
            yield f"{name} begins at {axis.start!r}, which has other values"
        ahead[name] = axis


def safe(text: str) -> str:
    """The name of a value as part of a folder's name: `1 %` is 1pct."""
    return re.sub(r"[^A-Za-z0-9._+-]", "-", text.replace(" ", "").replace("%", "pct"))


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


class Axis(Part):
    """`paths` are the keys, each as an override names it; `values` by name.

    With several keys a value is a list with one for each, or the same for all. `start` is another axis, with the same
    values: this one begins at the value that the other one has, so the two together make a triangle.
    """

    paths: Annotated[tuple[str, ...], BeforeValidator(read_paths), Field(alias="set")]
    values: Annotated[dict[str, Any], BeforeValidator(read_values)]
    start: Annotated[Name | None, Field(alias="from")] = None

    def overrides(self, name: str) -> tuple[Override, ...]:
        """What the value of that name comes to."""
        value = self.values[name]
        each = value if len(self.paths) > 1 and isinstance(value, list) else [value] * len(self.paths)
        # JSON is YAML.
        return tuple(
            Override(path, json.dumps(one, ensure_ascii=False)) for path, one in zip(self.paths, each, strict=True)
        )

    @model_validator(mode="after")
    def check_even(self) -> Self:
        for name, one in self.values.items():
            if len(self.paths) > 1 and isinstance(one, list) and len(one) != len(self.paths):
                raise BadValue(
                    f"has {len(one)} values for {len(self.paths)} keys at {name}", "one for each, or one for all"
                )
        return self
