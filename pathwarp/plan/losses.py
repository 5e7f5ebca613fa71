# SPDX-License-Identifier: Apache-2.0
"""A scenario's exact losses as the guest carries them out: each packet named by a byte of the stream."""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

from pathwarp.base.complaints import Complaint, Complaints
from pathwarp.base.yamlfile import Place
from pathwarp.model.schema.exactloss import ExactLoss
from pathwarp.model.schema.scenario import Scenario
from pathwarp.model.schema.workload import ConstantWorkload, Workload
from pathwarp.model.traces import Burst, packet_sizes


class Target(NamedTuple):
    """A packet to lose: the byte of the stream (from 0) that it holds or acknowledges (`what`), and which copies.

    `path` is empty where any path's packets count; bit n - 1 of `copies` is for the n-th one.
    """

    what: str
    path: str
    byte: int
    copies: int


class Counted(NamedTuple):
    """A packet to lose: the `number`-th one of its kind (`what`) that the path's link carries, whoever sends it."""

    what: str
    path: str
    number: int


def plan_losses(
    scenario: Scenario, workload: Workload, bursts: Sequence[Burst], trace: str, where: Callable[[Place], str]
) -> tuple[Target | Counted, ...] | None:
    """The packets that the scenario names, None for a scenario that says nothing of them.

    `bursts` are those of the trace that messages call `trace`; only those within the scenario's duration count. `where`
    tells where a place of the scenario's file is. Raises Complaints for packets that there are not.
    """
    if scenario.losses is None:
        return None
    bursts = [burst for burst in bursts if burst.start_ms * 1_000_000 < scenario.duration_ns]
    complaints: list[Complaint] = []
    targets: list[Target | Counted] = []
    for index, loss in enumerate(scenario.losses):
        if loss.of == "link":
            assert loss.path and isinstance(loss.position, int), "rules see to it"
            targets.append(Counted(loss.what, loss.path, loss.position))
            continue
        found = _byte(loss, scenario, workload, bursts, trace, where(("losses", index)))
        if isinstance(found, Complaint):
            complaints.append(found)
        else:
            targets.append(Target(loss.what, loss.path or "", found, loss.copies))
    if complaints:
        raise Complaints(complaints)
    return tuple(targets)


def _byte(
    loss: ExactLoss, scenario: Scenario, workload: Workload, bursts: Sequence[Burst], trace: str, where: str
) -> int | Complaint:
    begin, sizes, stretch = 0, [], "the flow"
    if isinstance(workload, ConstantWorkload):
        sizes = [workload.packet_bytes] * workload.packets(scenario.duration_ns)
        if loss.burst is not None:
            return Complaint(where, f"burst is {loss.burst}, but {workload.name} has none", "", "leave burst out")
    elif loss.burst is None:
        sizes = [size for burst in bursts for size in packet_sizes(burst.size_bytes, workload.packet_bytes)]
    elif loss.burst >= len(bursts):
        what = f"burst is {loss.burst}, but {trace} has {len(bursts)} within the scenario's duration"
        return Complaint(where, what, f"0 to {len(bursts) - 1}" if bursts else "")
    else:
        begin = sum(burst.size_bytes for burst in bursts[: loss.burst])
        sizes, stretch = packet_sizes(bursts[loss.burst].size_bytes, workload.packet_bytes), f"burst {loss.burst}"
    if isinstance(loss.position, float):
        total = sum(sizes)
        return begin + min(int(loss.position * total), total - 1)
    if abs(loss.position) > len(sizes):
        packets = f"{len(sizes)} packet{'s' if len(sizes) > 1 else ''}"
        what = f"position is {loss.position}, but with {trace} {stretch} has {packets}"
        return Complaint(where, what, f"1 to {len(sizes)}, or -{len(sizes)} to -1" if len(sizes) > 1 else "first")
    return begin + list(accumulate(sizes))[loss.position - (loss.position > 0)] - 1
