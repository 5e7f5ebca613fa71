# SPDX-License-Identifier: Apache-2.0
"""A packet without new bytes that the same subflow sent before, but under other sequence numbers.

Linux reinjects onto the same subflow when that is the usable one.
"""

from pathwarp.measure.kinds.kind import Labels, PacketKind

KIND = PacketKind(
    key="repeated",
    legend="repeated on its own subflow",
    noun="repeated data",
    colour="#CC79A7",
    drawn=50,
    asked=50,
    claims=lambda analysis, rows, counters: analysis.resent.repeated[rows.start : rows.stop] > 0,
    labels=Labels("repeated", "repeated, lost", "{n} repeated", "{n} repeated, lost"),
)
