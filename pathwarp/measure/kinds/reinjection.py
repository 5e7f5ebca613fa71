# SPDX-License-Identifier: Apache-2.0
"""A packet with bytes of the stream that only other subflows sent before."""

from pathwarp.measure.kinds.kind import Labels, PacketKind

KIND = PacketKind(
    key="reinjection",
    legend="reinjection",
    noun="reinjection",
    colour="#009E73",
    drawn=40,
    asked=20,
    claims=lambda analysis, rows, counters: analysis.resent.reinjected[rows.start : rows.stop] > 0,
    labels=Labels("reinjection", "reinjection loss", "{n} reinjections", "{n} reinj. lost"),
    names_path=True,
)
