# SPDX-License-Identifier: Apache-2.0
"""What there is to be said of a kind of packet."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from pathwarp.measure.analysis import Analysis

# Of an analysis, some rows of its data packets and by how much the sender's counters grew: which rows (bool).
Claim = Callable[[Analysis, range, Mapping[str, int]], np.ndarray]


@dataclass(frozen=True)
class Labels:
    """What stands beside packets in a diagram: one that arrives, one that is lost, `{n}` of either."""

    one: str
    one_lost: str
    several: str
    several_lost: str

    def text(self, number: int, lost: bool) -> str:
        """The label of so many packets."""
        if number == 1:
            return self.one_lost if lost else self.one
        return (self.several_lost if lost else self.several).format(n=number)


@dataclass(frozen=True)
class PacketKind:
    """A kind of packet, the constant KIND of the module that is called like it.

    `legend` is what a diagram calls the colour, `noun` what a line of text calls a packet. `drawn` orders the kinds in
    diagrams, where later ones lie on top, and in legends. `labels` are None where packets go without a label;
    `names_path`: the label of a single one says the path when it is not the one that failed.

    `claims` finds the packets. Where several kinds claim a packet it is of the one with the lowest `asked`. None: the
    kind has no data, so its packets are in no table of data packets.
    """

    key: str
    legend: str
    noun: str
    colour: str
    drawn: int
    asked: int = 0
    claims: Claim | None = None
    labels: Labels | None = None
    names_path: bool = False

    @property
    def carries_data(self) -> bool:
        return self.claims is not None
