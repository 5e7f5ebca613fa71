# SPDX-License-Identifier: Apache-2.0
"""What the sender knew when a burst lost its end: its estimates and what was in flight, from the captures.

That is all that its timers are set from. Nothing behind the first repair on the subflow goes into it.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from pathwarp.measure.analysis import Analysis
from pathwarp.measure.timing.estimator import Estimator
from pathwarp.measure.transports import answers
from pathwarp.measure.transports.subflows import Decoded, Subflow
from pathwarp.wire.tcp import ETHERNET_HEADER, SYN

_US = 1_000
# An acknowledgment: IPv4, TCP, timestamps, a Data ACK of 8 bytes.
_ACK_BYTES = ETHERNET_HEADER + 20 + 20 + 12 + 12


def course(trial: Analysis, burst: int | None) -> dict[str, Any] | None:
    """Return the course of a burst whose last packets were lost and chosen to be, None of any other.

    `states` has an entry for each packet of the burst that the subflow sent and for each acknowledgment that came, up
    to the first repair: what is true behind it. Times are in µs from `first_sent_ns` (epoch); `oldest_us`
    is when the first packet in flight was sent. `lost` are the packets at the end: the bytes that each takes on a link,
    and the copies that are lost (bits, counted on `path` or, where that is empty, on all).
    """
    lost = _lost_end(trial, burst)
    if burst is None or not lost or _links(trial.inputs.plan).keys() != set(trial.inputs.paths):
        return None
    table, own = trial.packets, trial.bursts
    begin, end = int(own.offset[burst]), int(own.offset[burst] + own.size[burst])
    new = (table.offset < end) & (table.end > begin) & (trial.resent.new > 0)
    if len(np.unique(table.subflow[new])) != 1:
        return None
    flow = trial.connection.subflows[int(table.subflow[new][0])]
    first_ns = int(table.time_ns[new][0])
    # What the subflow sends next is a repair, or the next burst; reinjections on others don't touch its timers.
    behind = (table.subflow == table.subflow[new][0]) & (table.time_ns > first_ns) & ~new
    until_ns = int(table.time_ns[behind].min(initial=np.iinfo(np.int64).max))
    seen = trial.decoded[trial.inputs.ends[0], flow.path]
    found = [
        {
            "at_us": (state.pop("at_ns") - first_ns) / _US,
            "oldest_us": (state.pop("oldest_ns") - first_ns) / _US,
            **state,
        }
        for state in states(flow, seen, trial, first_ns, until_ns)
    ]
    return {
        "path": flow.path,
        "first_sent_ns": first_ns,
        "states": found,
        "lost": lost,
        "links": _links(trial.inputs.plan),
        "ack_bytes": _ACK_BYTES,
    }


def _lost_end(trial: Analysis, burst: int | None) -> list[dict[str, Any]]:
    """The packets at the burst's end that are lost, in the order of the stream; none where others are lost as well."""
    targets = trial.inputs.plan.get("losses") or []
    if burst is None or trial.failure or any(target["what"] != "data" or "number" in target for target in targets):
        return []
    table, own = trial.packets, trial.bursts
    end = int(own.offset[burst] + own.size[burst])
    new = trial.resent.new > 0
    found = []
    for target in sorted(targets, key=lambda target: -target["byte"]):
        (rows,) = np.nonzero(new & (table.offset <= target["byte"]) & (table.end > target["byte"]))
        if len(rows) != 1 or int(table.end[rows[0]]) != end or table.offset[rows[0]] < own.offset[burst]:
            return []
        end = int(table.offset[rows[0]])
        found.append({"bytes": _frame_bytes(trial, int(rows[0])), "copies": target["copies"], "path": target["path"]})
    return found[::-1]


def _frame_bytes(trial: Analysis, row: int) -> int:
    table = trial.packets
    seen = trial.decoded[trial.inputs.ends[0], trial.inputs.paths[int(table.path[row])]]
    (at,) = np.nonzero((seen.tcp.time_ns == table.time_ns[row]) & (seen.tcp.payload_len == table.length[row]))
    (place,) = np.nonzero(seen.ip.row == seen.tcp.row[at[0]])
    return int(seen.ip.total_len[place[0]]) + ETHERNET_HEADER


def _links(plan: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Delay and rate of each path that is a single link and always the same, from the sender of the data and back."""
    shapes: dict[str, dict[str, Any]] = {}
    if "paths_setup" in plan:
        shapes = {setup["name"]: {way: setup[way] for way in ("down", "up")} for setup in plan["paths_setup"]}
    elif len(plan["network"]["cables"]) == 2 * len(plan["paths"]):
        # Nothing but links between the two hosts, each with a node in its middle: a path has its link's name.
        for place in plan["network"]["shapes"]:
            shapes.setdefault(place["link"], {})[place["direction"]] = place["shape"]
    return {
        name: {there: _delay_and_rate(of[way]) for there, way in (("there", "down"), ("back", "up"))}
        for name, of in shapes.items()
        if name in plan["paths"] and len(of) == 2 and not any(_varies(shape) for shape in of.values())
    }


def _varies(shape: dict[str, Any]) -> bool:
    return any(shape.get(key) for key in ("jitter", "loss", "adapts"))


def _delay_and_rate(shape: dict[str, Any]) -> dict[str, int]:
    return {"delay_ns": shape["delay_ns"], "rate_bit_s": shape["rate_bit_s"]}


def states(flow: Subflow, seen: Decoded, trial: Analysis, first_ns: int, until_ns: int) -> Iterator[dict[str, Any]]:
    """Yield the states behind the burst's packets and their acknowledgments, times in ns of the epoch."""
    estimator = Estimator(int(trial.inputs.plan["sysctls"].get("net.ipv4.tcp_rto_min_us", 200_000)))
    flying: list[_Flying] = []
    acked = sent = 0
    for time_ns, is_ack, begin, end in _events(flow, seen):
        if time_ns >= until_ns:
            return
        moves = False
        if not is_ack:
            again = next((one for one in flying if one.begin == begin), None)
            if again:
                again.again = True
            else:
                flying.append(_Flying(time_ns, begin, end))
                moves = True
            sent = max(sent, end)
        elif end > acked:
            acked, moves = end, True
            gone = [one for one in flying if one.end <= acked]
            flying = [one for one in flying if one.end > acked]
            if gone and not any(one.again for one in gone):
                estimator.sample(time_ns // _US - gone[0].time_ns // _US, acked, sent)
        if moves and time_ns >= first_ns:
            yield {
                "at_ns": time_ns,
                "event": "acknowledged" if is_ack else "sent",
                "in_flight": len(flying),
                "oldest_ns": flying[0].time_ns if flying else time_ns,
                "srtt_us": estimator.srtt_us,
                "rttvar_us": estimator.rttvar_us,
                "rto_jiffies": estimator.rto_jiffies,
                "pto_jiffies": estimator.pto_jiffies(len(flying)),
            }


class _Flying:
    """A segment that is not acknowledged; `again` once it was sent again."""

    def __init__(self, time_ns: int, begin: int, end: int) -> None:
        self.time_ns, self.begin, self.end, self.again = time_ns, begin, end, False


def _events(flow: Subflow, seen: Decoded) -> list[tuple[int, bool, int, int]]:
    """What the subflow sent and what came back, in order: time, whether an acknowledgment, sequence numbers from 0."""
    tcp = seen.tcp
    rows = flow.rows(tcp) & ((tcp.payload_len > 0) | (tcp.flags & SYN > 0))
    begin = (tcp.seq[rows].astype(np.int64) - flow.isn) & 0xFFFFFFFF
    end = begin + tcp.payload_len[rows] + (tcp.flags[rows] & SYN > 0)
    found = [(int(time), False, int(a), int(b)) for time, a, b in zip(tcp.time_ns[rows], begin, end, strict=True)]
    back = answers.from_receiver(flow, seen)
    numbers = (back["ack"].astype(np.int64) - flow.isn) & 0xFFFFFFFF
    found += [(int(time), True, 0, int(number)) for time, number in zip(back["time_ns"], numbers, strict=True)]
    # At one instant the packet was sent first: an answer takes longer.
    return sorted(found)
