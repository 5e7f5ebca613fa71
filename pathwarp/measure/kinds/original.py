# SPDX-License-Identifier: Apache-2.0
"""A packet with bytes that are sent for the first time."""

from pathwarp.measure.kinds.kind import Labels, PacketKind

KIND = PacketKind(
    key="original",
    legend="packet",
    noun="new data",
    colour="#222222",
    drawn=10,
    asked=40,
    claims=lambda analysis, rows, counters: analysis.resent.new[rows.start : rows.stop] > 0,
    labels=Labels("P", "P loss", "{n} packets", "{n} packets lost"),
)
