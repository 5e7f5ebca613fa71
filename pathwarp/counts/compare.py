# SPDX-License-Identifier: Apache-2.0
"""The three counts of a trial, side by side."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pathwarp.counts.tshark import Reinjection, reinjections
from pathwarp.measure.inputs import counter_changes
from pathwarp.measure.metrics import Analysis, analyse

_MOST = 5  # packets shown that only one of the two analyses has
SEGMENTS, BYTES = "MPTcpExtReinjectSegs", "MPTcpExtReinjectBytes"


@dataclass(frozen=True)
class Counts:
    """Packets that either analysis takes for reinjected, and the kernel's counts: segments and bytes.

    `others` are segments with data of other connections on the captured paths. That is D-ITG's signalling, which has a
    link of its own: what it sends here was reinjected, as the kernel's counters say, which are those of the host.
    """

    captured: Counter[Reinjection]
    tshark: Counter[Reinjection]
    segments: int | None
    size_bytes: int | None
    others: int

    @property
    def agree(self) -> bool:
        return self.captured == self.tshark and self.segments in (None, self.captured.total() + self.others)

    def lines(self) -> Iterator[str]:
        """A line for each count, and the packets that only one of the two analyses has."""
        for name, found in (("captures", self.captured), ("tshark", self.tshark)):
            yield f"  {name:<8}  {found.total()} packets, {sum(packet.length for packet in found.elements())} B"
        if self.others:
            yield f"  {'others':<8}  {self.others} packets of D-ITG's signalling, whose own link is not captured"
        kernel = "no counter" if self.segments is None else f"{self.segments} segments, {self.size_bytes} B"
        yield f"  {'kernel':<8}  {kernel}"
        for name, rest in (("captures", self.captured - self.tshark), ("tshark", self.tshark - self.captured)):
            for packet in sorted(rest.elements())[:_MOST]:
                yield f"  only {name}: {packet.length} B at {packet.time_ns} ns"
        yield "  all agree" if self.agree else "  they differ"


def compare(root: Path, folder: Path) -> Counts:
    """Count a run folder's reinjections; Faults when it can't be measured."""
    trial = analyse(folder)
    sender = trial.inputs.ends[0]
    rows = trial.resent.reinjected > 0
    packets = zip(trial.packets.time_ns[rows].tolist(), trial.packets.length[rows].tolist(), strict=True)
    changes = counter_changes(folder).get(sender, {})
    found = reinjections(root, [folder / "captures" / f"{sender}-{path}.pcap" for path in trial.inputs.paths])
    return Counts(
        Counter(Reinjection(*packet) for packet in packets),
        found,
        changes.get(SEGMENTS),
        changes.get(BYTES),
        _others(trial, sender),
    )


def _others(trial: Analysis, sender: str) -> int:
    """The sender's segments with data that belong to none of the flow's subflows."""
    found = 0
    for path in trial.inputs.paths:
        table = trial.decoded[sender, path].tcp
        other = (table.src == trial.inputs.address(sender, path)) & (table.payload_len > 0)
        for flow in trial.connection.subflows:
            other &= ~flow.rows(table)
        found += int(other.sum())
    return found
