# SPDX-License-Identifier: Apache-2.0
"""All kinds of packet, found by their files, and of which kind a packet is."""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

import numpy as np

from pathwarp.measure import kinds
from pathwarp.measure.analysis import Analysis
from pathwarp.measure.kinds.kind import PacketKind

# What kinds share; all other files beside this one are kinds.
_SHARED = ("kind", "registry")


def find_kinds() -> tuple[PacketKind, ...]:
    """A kind for each file of the package, in the order in which they are drawn."""
    names = [module.name for module in iter_modules(kinds.__path__) if module.name not in _SHARED]
    found = [import_module(f"{kinds.__name__}.{name}").KIND for name in names]
    return tuple(sorted(found, key=lambda kind: kind.drawn))


KINDS = find_kinds()


def kinds_of(analysis: Analysis, rows: range, counters: Mapping[str, int]) -> list[PacketKind]:
    """Of which kind each of these rows of the data packets is; `counters` are by how much the sender's grew.

    Raises LookupError for a packet that no kind claims.
    """
    asked = sorted((kind for kind in KINDS if kind.carries_data), key=lambda kind: kind.asked)
    claims = np.stack([kind.claims(analysis, rows, counters) for kind in asked if kind.claims is not None])
    if not claims.any(axis=0).all():
        row = rows[int(np.argmin(claims.any(axis=0)))]
        raise LookupError(f"the data packet {row} is of no kind")
    return [asked[place] for place in claims.argmax(axis=0).tolist()]
