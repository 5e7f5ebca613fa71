# SPDX-License-Identifier: Apache-2.0
"""A packet with bytes that the same subflow sent before, under the same sequence numbers."""

from pathwarp.measure.kinds.kind import Labels, PacketKind

KIND = PacketKind(
    key="retransmission",
    legend="retransmission (RETx)",
    noun="retransmission",
    colour="#D55E00",
    drawn=30,
    asked=30,
    claims=lambda analysis, rows, counters: analysis.resent.retransmitted[rows.start : rows.stop] > 0,
    labels=Labels("RETx", "RETx loss", "{n} RETx", "{n} RETx lost"),
)
