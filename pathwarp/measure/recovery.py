# SPDX-License-Identifier: Apache-2.0
"""The packets around a trial's affected burst, from its captures, as a timing diagram takes them."""

from collections.abc import Iterator
from dataclasses import replace

from pathwarp.measure.analysis import Analysis, analyse
from pathwarp.measure.transports.packets import Packets
from pathwarp.present.timing import NS_PER_MS, Kind, PacketEvent, Recovery
from pathwarp.results.integrity import require_undamaged
from pathwarp.results.reading import TrialResult

# The kernel's counters that say whether there were probes, and whether they went out on other subflows too.
PROBES, PROBES_ELSEWHERE = "TcpExtTCPLossProbes", "MPTcpExtProbeOther"
JIFFY_NS = NS_PER_MS
# How much is taken of a burst that never completes, and the least of any.
NEVER_NS, LEAST_NS = 3_000 * NS_PER_MS, 50 * NS_PER_MS
# How much is taken of traffic that has no bursts.
AROUND_NS = 400 * NS_PER_MS


def recovery(trial: TrialResult) -> Recovery | None:
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
    bursts, log = analysis.bursts, analysis.log
    begin, size = int(bursts.offset[burst]), int(bursts.size[burst])
    start_ns = int(analysis.packets.time_ns[first_packet(analysis, burst)])
    completed_ns = None
    if completion_ms is not None:
        # Its time runs from the application's write, which the log has, not from the first packet.
        row = int((log.seq == bursts.first_seq[burst]).argmax())
        completed_ns = int(log.tx_ns[row]) + round(completion_ms * NS_PER_MS)
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
    failure = analysis.failure
    return Recovery(
        variant=name,
        paths=tuple(analysis.inputs.paths),
        events=tuple(sorted(events, key=lambda event: event.sent_ns)),
        start_ns=start_ns,
        completed_ns=None,
        failed_path=failure.path if failure else None,
        failed_ns=failure.at_ns if failure else None,
        ends=analysis.inputs.ends,
        flight_ns=_flight_ns(analysis),
    )


def kinds(analysis: Analysis, rows: range, counters: dict[str, int]) -> Iterator[Kind]:
    """What each of these rows of the data packets is; the sender's counters say whether its kernel probed at all."""
    resent = analysis.resent
    probes = _probes(analysis, rows) if counters.get(PROBES) else set()
    if counters.get(PROBES_ELSEWHERE):
        probes |= _copies(analysis, rows, probes)
    for row in rows:
        kind = (
            "reinjection" if resent.reinjected[row] else "retransmission" if resent.retransmitted[row] else "original"
        )
        yield "probe" if row in probes else kind


def _data(
    analysis: Analysis, window: tuple[int, int], begin: int, size: int, counters: dict[str, int]
) -> Iterator[PacketEvent]:
    """Data packets sent in the window, the offsets counted from the burst's first byte."""
    table = analysis.packets
    rows = range(*table.time_ns.searchsorted(window).tolist())
    for row, kind in zip(rows, kinds(analysis, rows, counters), strict=True):
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


def _probes(analysis: Analysis, rows: range) -> set[int]:
    """Rows that repeat a subflow's last segment when it has had neither an answer nor a retransmission since.

    What Linux does: after a flight without an answer the first timer, the PTO, repeats the last segment (or sends a new
    one, which no capture tells from other data); all later timers are RTOs, which repeat the first segment.
    """
    table, resent, found = analysis.packets, analysis.resent, set()
    for number in range(len(analysis.connection.subflows)):
        own = (table.subflow == number).nonzero()[0]
        end = table.seq[own] + table.length[own]
        heard_ns = _from_receiver(analysis, number, analysis.inputs.ends[0])["time_ns"]
        heard = heard_ns.searchsorted(table.time_ns[own], side="right")
        for i in range(*own.searchsorted((rows.start, rows.stop)).tolist()):
            again_before = i > 0 and resent.retransmitted[own[i - 1]] > 0 and heard[i - 1] == heard[i]
            if resent.retransmitted[own[i]] and not again_before and end[i] == end[: i + 1].max():
                found.add(int(own[i]))
    return found


def _copies(analysis: Analysis, rows: range, probes: set[int]) -> set[int]:
    """Rows of other subflows that carry a probe's bytes; where the probe is new data, its own row as well.

    The copy of a probe may have to wait, but not beyond the probing subflow's RTO. A probe with new data is known only
    by a copy in the same jiffy.
    """
    table, resent, found = analysis.packets, analysis.resent, set()
    for probe in sorted(probes):
        same = table.subflow[probe + 1 : rows.stop] == table.subflow[probe]
        again = (same & (resent.retransmitted[probe + 1 : rows.stop] > 0)).nonzero()[0]
        until = probe + 1 + int(again[0]) if len(again) else rows.stop
        # The path order of one instant may put the copy first.
        since = int(table.time_ns.searchsorted(table.time_ns[probe]))
        found |= {row for row in range(since, until) if resent.reinjected[row] and _same_bytes(table, row, probe)}
    for copy in (row for row in rows if resent.reinjected[row]):
        since, until = table.time_ns.searchsorted((table.time_ns[copy] - JIFFY_NS, table.time_ns[copy] + JIFFY_NS))
        news = (row for row in range(int(since), int(until)) if resent.new[row] and _same_bytes(table, row, copy))
        found.update(row for new in news for row in (new, copy))
    return found


def _same_bytes(table: Packets, row: int, other: int) -> bool:
    """Whether two subflows carry the same data."""
    same = table.offset[row] == table.offset[other] and table.length[row] == table.length[other]
    return bool(same and table.subflow[row] != table.subflow[other])


def _flight_ns(analysis: Analysis) -> dict[str, int]:
    """Median time from sender to receiver on each path that delivered anything."""
    table, flights = analysis.packets, {}
    for number, path in enumerate(analysis.inputs.paths):
        flight = (table.arrival_ns - table.time_ns)[(table.path == number) & table.delivered]
        if len(flight):
            flights[path] = int(sorted(flight.tolist())[len(flight) // 2])
    return flights


def _acks(analysis: Analysis, window: tuple[int, int]) -> Iterator[PacketEvent]:
    """Packets without data from the receiver, known again at the sender by IP identification and ACK number."""
    sender, receiver = analysis.inputs.ends
    for number, flow in enumerate(analysis.connection.subflows):
        arrivals: dict[tuple[int, int], list[int]] = {}
        for time_ns, *key in _columns(_from_receiver(analysis, number, sender), window):
            arrivals.setdefault(tuple(key), []).append(time_ns)
        for sent_ns, *key in _columns(_from_receiver(analysis, number, receiver), window):
            later = [time_ns for time_ns in arrivals.get(tuple(key), ()) if time_ns >= sent_ns]
            yield PacketEvent(flow.path, "up", sent_ns, min(later, default=None), 0, 0, "ack")


def _columns(rows: dict, window: tuple[int, int]) -> Iterator[tuple[int, int, int]]:
    inside = slice(*rows["time_ns"].searchsorted(window))
    return zip(*(rows[name][inside].tolist() for name in ("time_ns", "ident", "ack")), strict=True)


def _from_receiver(analysis: Analysis, subflow: int, host: str) -> dict:
    """Time, IP identification and ACK number of a subflow's packets from the receiver without data, seen at `host`."""
    flow = analysis.connection.subflows[subflow]
    tcp = analysis.decoded[host, flow.path].tcp
    ports = (tcp.sport == flow.receiver[1]) & (tcp.dport == flow.sender[1]) & (tcp.payload_len == 0)
    rows = ports & (tcp.src == flow.receiver[0]) & (tcp.dst == flow.sender[0]) & flow.during(tcp.time_ns)
    return {name: getattr(tcp, name)[rows] for name in ("time_ns", "ident", "ack")}
