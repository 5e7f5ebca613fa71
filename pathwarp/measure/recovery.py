# SPDX-License-Identifier: Apache-2.0
"""The packets around a trial's affected burst, from its captures, as a timing diagram takes them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from pathwarp.base.units import NS_PER_MS
from pathwarp.measure.analysis import Analysis, analyse
from pathwarp.measure.kinds.ack import KIND as ACK
from pathwarp.measure.kinds.kind import PacketKind
from pathwarp.measure.kinds.registry import kinds_of
from pathwarp.measure.transits import median_transit_ns
from pathwarp.measure.transports.answers import acks
from pathwarp.results.integrity import require_undamaged
from pathwarp.results.reading import TrialResult

# How much is taken of a burst that never completes, and the least of any.
NEVER_NS, LEAST_NS = 3_000 * NS_PER_MS, 50 * NS_PER_MS
# How much is taken of traffic that has no bursts.
AROUND_NS = 400 * NS_PER_MS


@dataclass(frozen=True)
class PacketEvent:
    """A packet on a path. Times in ns since the epoch; `arrived_ns` is None for a lost one.

    `direction` is "down" from server to client. `offset` is where in the stream its `length` bytes of payload begin,
    counted from the first byte of the affected burst. `label` replaces the words made from the kind.
    """

    path: str
    direction: Literal["down", "up"]
    sent_ns: int
    arrived_ns: int | None
    offset: int
    length: int
    kind: PacketKind
    label: str = ""


@dataclass(frozen=True)
class Recovery:
    """What one trial shows: the packets around the affected burst, and its three instants in ns since the epoch.

    `start_ns` is the burst's first packet. `completed_ns` is None where the burst never completed. `failed_path` is one
    of `paths`, whose order is that of the drawing, or None. `ends` are sender and receiver of the data. `flight_ns` is
    the usual time between them on each path: how steep a packet that is lost is drawn. `mark_ns` is the instant from
    which the trial differs from the one that it is compared with. Without `has_burst`, `start_ns` is that instant.
    """

    variant: str
    paths: tuple[str, ...]
    events: tuple[PacketEvent, ...]
    start_ns: int
    completed_ns: int | None
    failed_path: str | None
    failed_ns: int | None
    ends: tuple[str, str] = ("server", "client")
    flight_ns: Mapping[str, int] = field(default_factory=dict)
    mark_ns: int | None = None
    has_burst: bool = True

    def ms(self, instant_ns: int) -> float:
        """Time since the burst's first packet."""
        return (instant_ns - self.start_ns) / NS_PER_MS

    @property
    def completion_ms(self) -> float | None:
        return None if self.completed_ns is None else self.ms(self.completed_ns)


def read_recovery(trial: TrialResult) -> Recovery | None:
    """Read a sealed trial's captures; None where the failure met no burst. Raises Complaints for unusable captures."""
    affected = trial.metrics.get("affected_burst")
    if affected is None or trial.folder is None:
        return None
    if trial.manifest:
        require_undamaged(trial.folder, trial.manifest)
    analysis = analyse(trial.folder)
    counters = trial.metrics.get("counters", {}).get(analysis.inputs.ends[0], {})
    completion_ms = trial.metrics["affected_burst_completion_time_ms"]
    return around_burst(analysis, trial.variant, affected, completion_ms, counters)


def first_packet(analysis: Analysis, burst: int) -> int:
    """The row of the packet that first had the burst's first byte."""
    table, begin = analysis.packets, int(analysis.bursts.offset[burst])
    return int(((table.offset <= begin) & (table.end > begin)).argmax())


def around_burst(
    analysis: Analysis,
    name: str,
    burst: int,
    completion_ms: float | None,
    counters: dict[str, int],
    mark_ns: int | None = None,
) -> Recovery:
    """The packets around a burst; `counters` are the sender's, `mark_ns` an instant to be marked and to be shown."""
    bursts, messages = analysis.bursts, analysis.messages
    begin, size = int(bursts.offset[burst]), int(bursts.size[burst])
    start_ns = int(analysis.packets.time_ns[first_packet(analysis, burst)])
    completed_ns = None
    if completion_ms is not None:
        # Its time runs from the application's write, which the log has, not from the first packet.
        row = int((messages.number == bursts.first_seq[burst]).argmax())
        completed_ns = int(messages.sent_ns[row]) + round(completion_ms * NS_PER_MS)
    span = NEVER_NS if completed_ns is None else max(completed_ns - start_ns, LEAST_NS)
    span = max(span, abs((mark_ns or start_ns) - start_ns))
    window = (start_ns - span, start_ns + 2 * span)
    found = _recovery(analysis, name, counters, start_ns, window, range(begin, begin + size))
    return replace(found, completed_ns=completed_ns, mark_ns=mark_ns)


def around_instant(analysis: Analysis, name: str, counters: dict[str, int], mark_ns: int) -> Recovery:
    """The packets around an instant, from which the time counts, of traffic that has no bursts."""
    window = (mark_ns - AROUND_NS // 4, mark_ns + AROUND_NS)
    stream = range(int(analysis.packets.end.max(initial=0)))
    found = _recovery(analysis, name, counters, mark_ns, window, stream)
    return replace(found, has_burst=False, mark_ns=mark_ns)


def _recovery(
    analysis: Analysis, name: str, counters: dict[str, int], start_ns: int, window: tuple[int, int], stream: range
) -> Recovery:
    """The packets of a window; `stream` are the bytes that the diagram is about."""
    events = [*_data(analysis, window, stream.start, len(stream), counters), *_acks(analysis, window)]
    failure, paths = analysis.failure, analysis.inputs.paths
    transits_ns = {path: median_transit_ns(analysis.packets, number) for number, path in enumerate(paths)}
    return Recovery(
        variant=name,
        paths=tuple(paths),
        events=tuple(sorted(events, key=lambda event: event.sent_ns)),
        start_ns=start_ns,
        completed_ns=None,
        failed_path=failure.path if failure else None,
        failed_ns=failure.at_ns if failure else None,
        ends=analysis.inputs.ends,
        flight_ns={path: transit_ns for path, transit_ns in transits_ns.items() if transit_ns is not None},
    )


def _data(
    analysis: Analysis, window: tuple[int, int], begin: int, size: int, counters: dict[str, int]
) -> Iterator[PacketEvent]:
    """Data packets sent in the window, the offsets counted from the burst's first byte."""
    table = analysis.packets
    rows = range(*table.time_ns.searchsorted(window).tolist())
    for row, kind in zip(rows, kinds_of(analysis, rows, counters), strict=True):
        offset, length = int(table.offset[row]) - begin, int(table.length[row])
        event = PacketEvent(
            path=analysis.inputs.paths[table.path[row]],
            direction="down",
            sent_ns=int(table.time_ns[row]),
            arrived_ns=int(table.arrival_ns[row]) if table.delivered[row] else None,
            offset=offset,
            length=length,
            kind=kind,
        )
        outside = "burst before" if offset + length <= 0 else "next burst" if offset >= size else ""
        yield replace(event, label=outside)


def _acks(analysis: Analysis, window: tuple[int, int]) -> Iterator[PacketEvent]:
    """The receiver's packets without data that were sent in the window."""
    for one in acks(analysis.inputs, analysis.connection, analysis.decoded, window):
        yield PacketEvent(one.path, "up", one.sent_ns, one.arrived_ns, offset=0, length=0, kind=ACK)
