# SPDX-License-Identifier: Apache-2.0
"""The three counts of a trial, side by side."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pathwarp.compare.counts.tshark import Reinjection, reinjections
from pathwarp.measure.analysis import Analysis, analyse
from pathwarp.measure.inputs import counter_changes

_MOST = 5  # packets shown that only one of the two analyses has
_BYTES = "MPTcpExtReinjectBytes"


@dataclass(frozen=True)
class Counts:
    """Packets that either analysis takes for reinjected, and the kernel's count of bytes, None without such a counter.

    `signalling_bytes` is what D-ITG's other connection sent on the captured paths. It has a link of its own, so that
    was reinjected, and the kernel's counter, which is the host's, has it too.
    """

    captured: Counter[Reinjection]
    tshark: Counter[Reinjection]
    kernel_bytes: int | None
    signalling_bytes: int

    @property
    def agree(self) -> bool:
        """Whether the kernel counted what the captures show, and tshark marks nothing else."""
        if self.tshark - self.captured:
            return False
        return self.kernel_bytes in (None, _size(self.captured) + self.signalling_bytes)

    def lines(self) -> Iterator[str]:
        """A line for each count, and the packets that only one of the two analyses has."""
        yield f"  captures  {_show(self.captured)}"
        missed = self.captured - self.tshark
        remark = f", {missed.total()} not marked (docs/investigations/tshark.md says why)" if missed else ""
        yield f"  tshark    {_show(self.tshark)}{remark}"
        kernel = "no counter" if self.kernel_bytes is None else f"{self.kernel_bytes} B"
        remark = f", {self.signalling_bytes} of them D-ITG's signalling" if self.signalling_bytes else ""
        yield f"  kernel    {kernel}{remark}"
        for name, rest in (("captures", missed), ("tshark", self.tshark - self.captured)):
            for packet in sorted(rest.elements())[:_MOST]:
                yield f"  only {name}: {packet.length} B at {packet.time_ns} ns"
        yield "  all agree" if self.agree else "  they differ"


def tally(root: Path, folder: Path) -> Counts:
    """Count a run folder's reinjections; Complaints when it can't be measured."""
    trial = analyse(folder)
    sender = trial.inputs.ends[0]
    reinjected = trial.resent.reinjected > 0
    return Counts(
        captured=_packets(trial, reinjected),
        tshark=reinjections(
            root, [trial.inputs.capture(sender, paths[0]) for paths in trial.inputs.captured(sender).values()]
        ),
        kernel_bytes=counter_changes(folder).get(sender, {}).get(_BYTES),
        signalling_bytes=_signalling_bytes(trial, sender),
    )


def _size(packets: Counter[Reinjection]) -> int:
    return sum(packet.length for packet in packets.elements())


def _show(packets: Counter[Reinjection]) -> str:
    return f"{packets.total()} packets, {_size(packets)} B"


def _packets(trial: Analysis, rows: np.ndarray) -> Counter[Reinjection]:
    table = trial.packets
    return Counter(map(Reinjection, table.time_ns[rows].tolist(), table.length[rows].tolist()))


def _signalling_bytes(trial: Analysis, sender: str) -> int:
    """What the sender sent of data, each byte once, on connections that are not the flow's."""
    found = {}
    for path in trial.inputs.paths:
        table = trial.decoded[sender, path].tcp
        other = (table.src == trial.inputs.address(sender, path)) & (table.payload_len > 0)
        for flow in trial.connection.subflows:
            other &= ~flow.rows(table)
        for row in np.flatnonzero(other).tolist():
            found[int(table.sport[row]), int(table.seq[row])] = int(table.payload_len[row])
    return sum(found.values())
