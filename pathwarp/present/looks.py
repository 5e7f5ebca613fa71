# SPDX-License-Identifier: Apache-2.0
"""What each variant looks like in figures, and what it is called there."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pathwarp.model.schema.variant import ResolvedVariant

# For variants whose file has no colour, by their position; a hatch tells them from the others.
SPARE_COLOURS = ("#B8A1D9", "#8FB339", "#5B6C8F", "#D9A5A0", "#3E7A78")
_HATCHED = {"hatch": "///", "edgecolor": "white", "linewidth": 0}


@dataclass(frozen=True)
class Look:
    """A variant's label, and its bars and boxes as matplotlib's keywords."""

    label: str
    bar: Mapping[str, Any]


def looks_of(variants: Collection[ResolvedVariant]) -> dict[str, Look]:
    """The look of each variant by name. A variant's own colour doesn't depend on the others, a spare one does.

    Variants with the same label go by their names.
    """
    shared = Counter(variant.label for variant in variants)
    spare = [variant.name for variant in variants if variant.colour is None]
    looks = {}
    for variant in variants:
        bar: dict[str, Any] = {"facecolor": variant.colour}
        if variant.colour is None:
            bar = {"facecolor": SPARE_COLOURS[spare.index(variant.name) % len(SPARE_COLOURS)], **_HATCHED}
        looks[variant.name] = Look(variant.label if shared[variant.label] == 1 else variant.name, bar)
    return looks
