# SPDX-License-Identifier: Apache-2.0
"""The connection that carries the trial's data, and its subflows."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pathwarp.base.broken import broken
from pathwarp.measure.inputs import Inputs
from pathwarp.wire import mptcp, pcap, tcp
from pathwarp.wire.mptcp import MptcpColumns, Subtype
from pathwarp.wire.pcap import Capture
from pathwarp.wire.tcp import ACK, SYN, Ipv4Columns, TcpColumns

FOREVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Decoded:
    """A capture with its columns."""

    capture: Capture
    ip: Ipv4Columns
    tcp: TcpColumns
    mptcp: MptcpColumns


@dataclass(frozen=True)
class Subflow:
    """A TCP connection between an address of the sender and one of the receiver.

    `path` is the path between the two addresses, `isn` the sequence number of the sender's SYN, `syn_ns`
    when the first SYN was seen at the sender, `joined` False for the connection's first subflow. From `since_ns` until
    before `until_ns` its addresses and ports are its own: a subflow that joins anew may draw the port of an ended one.
    """

    path: str
    sender: tuple[int, int]
    receiver: tuple[int, int]
    isn: int
    syn_ns: int
    joined: bool
    since_ns: int = 0
    until_ns: int = FOREVER

    def during(self, time_ns: np.ndarray) -> np.ndarray:
        """Return which instants lie in the subflow's time (bool)."""
        return (time_ns >= self.since_ns) & (time_ns < self.until_ns)

    def rows(self, columns: TcpColumns) -> np.ndarray:
        """Return which segments are the sender's on this subflow (bool)."""
        return _between(columns, self.sender, self.receiver) & self.during(columns.time_ns)


@dataclass(frozen=True)
class Connection:
    """The subflows in the order of their first SYN; `first_dsn` is the DSN of the first byte, None for plain TCP."""

    subflows: list[Subflow]
    first_dsn: int | None


def load(inputs: Inputs) -> dict[tuple[str, str], Decoded]:
    """Read and decode the captures of sender and receiver: {(host, path): columns}.

    Paths with the same interface have the same columns, the very same objects.
    """
    decoded: dict[tuple[str, str], Decoded] = {}
    for host in inputs.ends:
        for paths in inputs.captured(host).values():
            capture = pcap.read(inputs.capture(host, paths[0]))
            ip = tcp.decode_ipv4(capture)
            segments = tcp.decode(capture, ip)
            columns = Decoded(capture, ip, segments, mptcp.decode(capture, segments))
            decoded |= {(host, path): columns for path in paths}
    return decoded


def find_connection(inputs: Inputs, decoded: dict[tuple[str, str], Decoded]) -> Connection:
    """Return the connection that the sender opened to the data port, which no other flow has.

    Its further subflows are those whose MP_JOIN has a token of one of the two hosts' keys, so a signalling connection
    between the same addresses and ports stays out, as one does that was opened and got no data. Raises Complaints when
    there is none or more than one, or none of the plan's transport.
    """
    sender, _ = inputs.ends
    captures = [decoded[sender, paths[0]] for paths in inputs.captured(sender).values()]
    opened = [subflow for seen in captures for subflow in handshakes(inputs, seen)]
    first = [flow for flow in opened if not flow.joined and flow.receiver[1] == inputs.plan["port"]]
    if not first:
        where = inputs.capture(sender, inputs.plan["preferred_path"])
        raise broken(where, f"has no connection from {sender} to port {inputs.plan['port']}")
    used = [flow for flow in first if payload(flow, captures)] or first
    if len(used) > 1:
        where = inputs.capture(sender, inputs.plan["preferred_path"])
        raise broken(where, f"has {len(used)} connections from {sender} to port {inputs.plan['port']}, not one")
    (main,) = used
    keys = find_keys(main, captures)
    spoken = "mptcp" if keys else "tcp"
    if spoken != inputs.plan["transport"]:
        where = inputs.capture(sender, main.path)
        raise broken(where, f"the data's connection is {spoken}, the trial's transport {inputs.plan['transport']}")
    if not keys:
        return Connection([main], None)
    tokens = {mptcp.token_and_first_dsn(key)[0] for key in keys}
    joined = [flow for flow in opened if flow.joined and tokens & find_tokens(flow, captures)]
    subflows = sorted([main, *joined], key=lambda flow: (flow.syn_ns, flow.sender, flow.receiver))
    return Connection(subflows, mptcp.token_and_first_dsn(keys[0])[1])


def handshakes(inputs: Inputs, seen: Decoded) -> list[Subflow]:
    """Return the subflows between the two hosts whose SYNs are in a capture of the sender."""
    sender, receiver = inputs.ends
    paths = {inputs.address(sender, path): path for path in inputs.paths}
    others = {inputs.address(receiver, path) for path in inputs.paths}
    columns, uses = seen.tcp, {}

    def path_of(ends: tuple[tuple[int, int], tuple[int, int]]) -> str:
        (near, _), (far, _) = ends
        return inputs.pairs.get((near, far), paths[near])

    for row in np.flatnonzero(columns.flags & SYN).tolist():
        source = int(columns.src[row]), int(columns.sport[row])
        target = int(columns.dst[row]), int(columns.dport[row])
        outward = source[0] in paths and target[0] in others
        if not outward and not (source[0] in others and target[0] in paths):
            continue
        ends = (source, target) if outward else (target, source)
        opening = None if columns.flags[row] & ACK else (outward, int(columns.seq[row]))
        if ends not in uses:
            uses[ends] = [_Use(int(columns.time_ns[row]), opening)]
        elif opening and opening != uses[ends][-1].opening:
            uses[ends].append(_Use(int(columns.time_ns[row]), opening))
        use = uses[ends][-1]
        use.joined |= bool(seen.mptcp.subtypes[row] & 1 << Subtype.MP_JOIN)
        if outward:
            use.isn = int(columns.seq[row])
    return [flow for ends, own in uses.items() for flow in _flows(path_of(ends), ends, own)]


@dataclass
class _Use:
    """A handshake between two ends; `opening` is the direction and the sequence number of its first SYN."""

    syn_ns: int
    opening: tuple[bool, int] | None
    joined: bool = False
    isn: int | None = None


def _flows(path: str, ends: tuple[tuple[int, int], tuple[int, int]], uses: list[_Use]) -> Iterator[Subflow]:
    """Yield the subflows that used the same ends one after the other; one's time ends with the next one's first SYN."""
    starts = [0, *(use.syn_ns for use in uses[1:])]
    for use, since_ns, until_ns in zip(uses, starts, [*starts[1:], FOREVER], strict=True):
        if use.isn is not None:
            yield Subflow(path, *ends, use.isn, use.syn_ns, use.joined, since_ns, until_ns)


def _between(columns: TcpColumns, source: tuple[int, int], target: tuple[int, int]) -> np.ndarray:
    ports = (columns.sport == source[1]) & (columns.dport == target[1])
    return ports & (columns.src == source[0]) & (columns.dst == target[0])


def payload(flow: Subflow, captures: list[Decoded]) -> int:
    """Return how many payload bytes the sender put on a subflow, retransmissions included."""
    return sum(int(seen.tcp.payload_len[flow.rows(seen.tcp)].sum()) for seen in captures)


def own_signals(flow: Subflow, seen: Decoded, subtype: Subtype) -> list[tuple[int, bool, int, int]]:
    """Return (row, from the sender, position, length) of a subflow's options of one subtype, in the order captured."""
    signals, columns = seen.mptcp.signals, seen.tcp
    found = []
    own = flow.during(columns.time_ns[signals.segment])
    for place in np.flatnonzero(own & (signals.subtype == subtype)).tolist():
        row = int(signals.segment[place])
        source = int(columns.src[row]), int(columns.sport[row])
        target = int(columns.dst[row]), int(columns.dport[row])
        if {source, target} == {flow.sender, flow.receiver}:
            found.append((row, source == flow.sender, int(signals.at[place]), int(signals.length[place])))
    return found


def find_keys(flow: Subflow, captures: list[Decoded]) -> list[int]:
    """Return the sender's and the receiver's key of a connection's first subflow; none when not exchanged."""
    for seen in captures:
        for row, outward, at, length in own_signals(flow, seen, Subtype.MP_CAPABLE):
            if outward and length >= 20 and seen.tcp.flags[row] & ACK:
                key = seen.capture.data[at + 4 : at + 20].tobytes()
                return [int.from_bytes(key[:8], "big"), int.from_bytes(key[8:], "big")]
    return []


def find_tokens(flow: Subflow, captures: list[Decoded]) -> set[int]:
    """Return the token that a subflow's first MP_JOIN names."""
    return {
        int.from_bytes(seen.capture.data[at + 4 : at + 8].tobytes(), "big")
        for seen in captures
        for _, _, at, length in own_signals(flow, seen, Subtype.MP_JOIN)
        if length == 12
    }
