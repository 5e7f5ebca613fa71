# SPDX-License-Identifier: Apache-2.0
"""The connection that carries the trial's data, and its subflows."""

from dataclasses import dataclass

import numpy as np

from pathwarp.measure import mptcp, pcap, tcp
from pathwarp.measure.broken import broken
from pathwarp.measure.inputs import Inputs
from pathwarp.measure.mptcp import MptcpColumns, Subtype
from pathwarp.measure.pcap import Capture
from pathwarp.measure.tcp import ACK, SYN, Ipv4Columns, TcpColumns


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

    `path` is the path that the sender's address belongs to, `isn` the sequence number of the sender's SYN, `syn_ns`
    when the first SYN was seen at the sender, `joined` False for the connection's first subflow.
    """

    path: str
    sender: tuple[int, int]
    receiver: tuple[int, int]
    isn: int
    syn_ns: int
    joined: bool

    def rows(self, columns: TcpColumns) -> np.ndarray:
        """Return which segments are the sender's on this subflow (bool)."""
        ports = (columns.sport == self.sender[1]) & (columns.dport == self.receiver[1])
        return ports & (columns.src == self.sender[0]) & (columns.dst == self.receiver[0])


@dataclass(frozen=True)
class Connection:
    """The subflows in the order of their first SYN; `first_dsn` is the DSN of the first byte, None for plain TCP."""

    subflows: list[Subflow]
    first_dsn: int | None


def load(inputs: Inputs) -> dict[tuple[str, str], Decoded]:
    """Read and decode the captures of sender and receiver: {(host, path): columns}."""
    decoded = {}
    for host in inputs.ends:
        for path in inputs.paths:
            capture = pcap.read(inputs.capture(host, path))
            ip = tcp.decode_ipv4(capture)
            segments = tcp.decode(capture, ip)
            decoded[host, path] = Decoded(capture, ip, segments, mptcp.decode(capture, segments))
    return decoded


def find_connection(inputs: Inputs, decoded: dict[tuple[str, str], Decoded]) -> Connection:
    """Return the connection that the sender opened to the data port and that carried the most payload.

    Its further subflows are those whose MP_JOIN has a token of one of the two hosts' keys, so a signalling connection
    between the same addresses and ports stays out. Raises Faults when there is none, or none of the plan's transport.
    """
    sender, _ = inputs.ends
    captures = [decoded[sender, path] for path in inputs.paths]
    opened = [subflow for seen in captures for subflow in handshakes(inputs, seen)]
    first = [flow for flow in opened if not flow.joined and flow.receiver[1] == inputs.plan["port"]]
    if not first:
        where = inputs.capture(sender, inputs.plan["preferred_path"])
        raise broken(where, f"has no connection from {sender} to port {inputs.plan['port']}")
    main = max(first, key=lambda flow: payload(flow, captures))
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
    columns, found = seen.tcp, {}
    for row in np.flatnonzero(columns.flags & SYN).tolist():
        source = int(columns.src[row]), int(columns.sport[row])
        target = int(columns.dst[row]), int(columns.dport[row])
        outward = source[0] in paths and target[0] in others
        if not outward and not (source[0] in others and target[0] in paths):
            continue
        ends = (source, target) if outward else (target, source)
        state = found.setdefault(ends, {"syn_ns": int(columns.time_ns[row]), "joined": False, "isn": None})
        state["joined"] |= bool(seen.mptcp.subtypes[row] & 1 << Subtype.MP_JOIN)
        if outward:
            state["isn"] = int(columns.seq[row])
    return [Subflow(paths[e[0][0]], *e, **state) for e, state in found.items() if state["isn"] is not None]


def payload(flow: Subflow, captures: list[Decoded]) -> int:
    """Return how many payload bytes the sender put on a subflow, retransmissions included."""
    return sum(int(seen.tcp.payload_len[flow.rows(seen.tcp)].sum()) for seen in captures)


def own_signals(flow: Subflow, seen: Decoded, subtype: Subtype) -> list[tuple[int, bool, int, int]]:
    """Return (row, from the sender, position, length) of a subflow's options of one subtype, in the order captured."""
    signals, columns = seen.mptcp.signals, seen.tcp
    found = []
    for place in np.flatnonzero(signals.subtype == subtype).tolist():
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
