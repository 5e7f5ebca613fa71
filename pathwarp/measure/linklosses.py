# SPDX-License-Identifier: Apache-2.0
"""A packet that was lost by its number on a link: whose it was, from the captures of the hosts that had it."""

import ipaddress
from dataclasses import replace
from typing import Any

import numpy as np

from pathwarp.base.broken import broken
from pathwarp.measure.inputs import Inputs
from pathwarp.measure.transports.packets import Packets
from pathwarp.measure.transports.subflows import Connection
from pathwarp.wire import pcap, tcp


def counted_loss(
    inputs: Inputs, connection: Connection, packets: Packets, target: dict, met: dict, where: str
) -> dict[str, Any]:
    """Return the entry of one of the plan's losses; Complaints, which name `where`, unless the captures have it lost.

    `byte` is the first one of the data's stream in the packet, None for a packet without, or of another flow.
    """
    packet = met["packet"]
    captures = inputs.folder / "captures"
    ends = _ends(inputs, packet["source"]), _ends(inputs, packet["target"])
    sides = [_sightings(inputs, end, packet) for end in ends if end]
    if len(sides) != len(ends):
        raise broken(
            captures, f"{where} took a packet from {packet['source']} to {packet['target']}: not all are hosts"
        )
    sent, got = sides
    # Where all numbers come again, 65536 packets later, the one without an arrival before the next.
    arrived = np.diff(np.searchsorted(got, np.append(sent, np.iinfo(np.int64).max))) > 0
    lost = sent[~arrived]
    if len(lost) != 1:
        raise broken(captures, f"have {len(lost)} packets like that of {where}, sent and not arrived, not one")
    copy = {"copy": 1, "path": target["path"], "sent_s": (int(lost[0]) - inputs.flow_start_ns) / 1e9, "lost": True}
    return {
        "what": target["what"],
        "byte": _byte(connection, packets, packet, int(lost[0])) if target["what"] == "data" else None,
        "copies": 1,
        "lost": [copy],
        "number": target["number"],
        "from": f"{packet['source']}:{packet['source_port']}",
        "to": f"{packet['target']}:{packet['target_port']}",
    }


def _byte(connection: Connection, packets: Packets, packet: dict, sent_ns: int) -> int | None:
    """The first byte of the data's stream in a packet; None for one of another flow."""
    ends = tuple((int(ipaddress.IPv4Address(packet[end])), packet[f"{end}_port"]) for end in ("source", "target"))
    for number, flow in enumerate(connection.subflows):
        if (flow.sender, flow.receiver) == ends:
            seq = (packet["seq"] - flow.isn) & 0xFFFFFFFF
            own = (packets.subflow == number) & (packets.time_ns == sent_ns) & (packets.seq & 0xFFFFFFFF == seq)
            if own.any():
                return int(packets.offset[int(np.argmax(own))])
    return None


def _ends(inputs: Inputs, address: str) -> tuple[Inputs, str, str] | None:
    """The orders, host and path of an address; None for one that no flow's host has."""
    for orders in (inputs.plan, *inputs.plan.get("load", [])):
        own = replace(inputs, plan={**inputs.plan, **orders})
        for host in own.ends:
            for path in own.paths:
                if own.plan["addresses"][host][path] == address:
                    return own, host, path
    return None


def _sightings(inputs: Inputs, end: tuple[Inputs, str, str], packet: dict) -> np.ndarray:
    """When a host's capture has a packet (epoch ns): by addresses, ports, identification and, over TCP, number."""
    own, host, path = end
    capture = pcap.read(own.capture(host, path))
    ip = tcp.decode_ipv4(capture)
    source, target = (int(ipaddress.IPv4Address(packet[side])) for side in ("source", "target"))
    rows = np.flatnonzero((ip.src == source) & (ip.dst == target) & (ip.ident == packet["ident"]))
    at = ip.at[rows] + ip.header_len[rows]
    ports = pcap.gather(capture.data, at, ">u4") == (packet["source_port"] << 16 | packet["target_port"])
    number = pcap.gather(capture.data, at + 4, ">u4") == packet["seq"]
    return capture.time_ns[ip.row[rows[ports & (number | (ip.protocol[rows] != tcp.PROTOCOL_TCP))]]]
