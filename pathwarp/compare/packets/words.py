# SPDX-License-Identifier: Apache-2.0
"""What a packet is, in words: which subflow, which part of the stream, new data, probe, reinjection, ACK."""

import numpy as np

from pathwarp.compare.packets.side import Side
from pathwarp.compare.packets.sightings import DATA_FIN_BIT, NO_FLOW
from pathwarp.measure.kinds.registry import kinds_of
from pathwarp.present.groups import path_words
from pathwarp.wire.mptcp import Subtype
from pathwarp.wire.tcp import ACK, FIN, RST, SYN

_FLAGS = {SYN: "SYN", FIN: "FIN", RST: "RST"}
_OPTIONS = {1 << subtype: subtype.name for subtype in Subtype if subtype != Subtype.DSS}
_OPTIONS[1 << DATA_FIN_BIT] = "DATA_FIN"
# What the kind of a packet can depend on lies this far away: a probe and its copies, an RTO after it.
_NEAR_NS = 3_000_000_000


def flags_and_options(seen: dict[str, int]) -> str:
    """What a packet says beside data and ACKs."""
    names = [word for bit, word in _FLAGS.items() if seen["flags"] & bit]
    names += [word for bit, word in _OPTIONS.items() if seen["options"] & bit]
    return " ".join(names)


class Words:
    """Words for a trial's sightings near one instant, in ns from the start of the flow."""

    def __init__(self, side: Side, around_ns: int) -> None:
        self.side = side
        self.packets = side.analysis.packets
        zero_ns = side.analysis.inputs.flow_start_ns
        window = (zero_ns + around_ns - _NEAR_NS, zero_ns + around_ns + _NEAR_NS)
        rows = range(*self.packets.time_ns.searchsorted(window).tolist())
        self.kinds = dict(zip(rows, kinds_of(side.analysis, rows, side.counters), strict=True))

    def line(self, number: int) -> str:
        """When, who, where and what."""
        seen = self.side.sightings.row(number)
        return f"{seen['time_ns'] / 1e9:14.6f} s  {self.where(number)}: {self.what(number)}"

    def where(self, number: int) -> str:
        """Who sends or gets the packet, on which path and subflow."""
        seen, inputs = self.side.sightings.row(number), self.side.analysis.inputs
        verb = "sends" if seen["sent"] else "gets"
        return f"{inputs.ends[seen['host']]} {verb} on {path_words(inputs.paths[seen['path']])}, {self._flow(seen)}"

    def what(self, number: int) -> str:
        """The packet itself."""
        seen = self.side.sightings.row(number)
        if seen["flow"] == NO_FLOW:
            return f"IP protocol {seen['protocol']}, {seen['size']} B"
        names = flags_and_options(seen)
        parts = [names] if names else []
        if seen["payload"]:
            parts.append(self._data(seen))
        elif seen["flags"] & ACK:
            parts.append(f"ACK {seen['ack']}")
        if not seen["payload"] and seen["options"] & 1 << Subtype.DSS:
            parts.append(f"data ACK {seen['data_ack']}")
        return ", ".join(parts) or "no flags"

    def _flow(self, seen: dict[str, int]) -> str:
        own = len(self.side.analysis.connection.subflows)
        if seen["flow"] == NO_FLOW:
            return "no TCP"
        return f"subflow {seen['flow'] + 1}" if seen["flow"] < own else "another connection"

    def _data(self, seen: dict[str, int]) -> str:
        size = f"{seen['payload']} B"
        row = self._row(seen)
        if row is None:
            return f"data, {size}, seq {seen['seq']}"
        kind = self.kinds[row].noun if row in self.kinds else "data"
        begin, end = int(self.packets.offset[row]), int(self.packets.end[row]) - 1
        lost = ", lost" if seen["sent"] and not self.packets.delivered[row] else ""
        return f"{kind}, {size}, DSN {begin} to {end}, seq {seen['seq']}{lost}"

    def _row(self, seen: dict[str, int]) -> int | None:
        """The row of the data packets' table that was seen."""
        times = self.packets.time_ns if seen["sent"] else self.packets.arrival_ns
        at_ns = seen["time_ns"] + self.side.analysis.inputs.flow_start_ns
        own = (self.packets.subflow == seen["flow"]) & (self.packets.seq == seen["seq"])
        rows = np.flatnonzero((times == at_ns) & own)
        return int(rows[0]) if len(rows) else None
