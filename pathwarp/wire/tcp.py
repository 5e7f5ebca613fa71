# SPDX-License-Identifier: Apache-2.0
"""IPv4 and TCP headers of a capture as columns."""

from dataclasses import dataclass

import numpy as np

from pathwarp.wire.pcap import Capture, gather

ETHERNET_HEADER = 14
ETHERTYPE_IPV4 = 0x0800
PROTOCOL_TCP = 6

FIN, SYN, RST, PSH, ACK = 0x01, 0x02, 0x04, 0x08, 0x10


@dataclass(frozen=True)
class Ipv4Columns:
    """The IPv4 packets of a capture: `row` is the packet's place in the capture, `at` its IP header's in the file.

    `total_len` is the length that the header states, `cap_len` what the file has of the packet from its IP header on.
    """

    row: np.ndarray
    at: np.ndarray
    header_len: np.ndarray
    total_len: np.ndarray
    cap_len: np.ndarray
    ident: np.ndarray
    fragment: np.ndarray
    protocol: np.ndarray
    src: np.ndarray
    dst: np.ndarray


@dataclass(frozen=True)
class TcpColumns:
    """The TCP segments over IPv4 of a capture, one row each.

    `row` is the packet's place in the capture, `time_ns` its time. Addresses are uint32, `seq` and `ack` as on the
    wire. `payload_len` comes from the IP header, so a short snap length does not shorten it. The TCP options lie in
    the capture's data from `options_at` up to `options_end`, as far as they were captured.
    """

    row: np.ndarray
    time_ns: np.ndarray
    src: np.ndarray
    dst: np.ndarray
    sport: np.ndarray
    dport: np.ndarray
    seq: np.ndarray
    ack: np.ndarray
    flags: np.ndarray
    window: np.ndarray
    ident: np.ndarray
    payload_len: np.ndarray
    options_at: np.ndarray
    options_end: np.ndarray

    def __len__(self) -> int:
        return len(self.row)


def decode_ipv4(capture: Capture) -> Ipv4Columns:
    """Return the IPv4 packets whose header was captured; everything else (ARP, IPv6, runts) is left out."""
    row = np.flatnonzero(capture.cap_len >= ETHERNET_HEADER + 20)
    row = row[gather(capture.data, capture.at[row] + 12, ">u2") == ETHERTYPE_IPV4]
    row = row[capture.data[capture.at[row] + ETHERNET_HEADER] >> 4 == 4]
    at = capture.at[row] + ETHERNET_HEADER
    return Ipv4Columns(
        row=row,
        at=at,
        header_len=(capture.data[at] & 0x0F).astype(np.int64) * 4,
        total_len=gather(capture.data, at + 2, ">u2").astype(np.int64),
        cap_len=capture.cap_len[row].astype(np.int64) - ETHERNET_HEADER,
        ident=gather(capture.data, at + 4, ">u2"),
        fragment=gather(capture.data, at + 6, ">u2") & 0x1FFF,
        protocol=capture.data[at + 9],
        src=gather(capture.data, at + 12, ">u4"),
        dst=gather(capture.data, at + 16, ">u4"),
    )


def decode(capture: Capture, ip: Ipv4Columns | None = None) -> TcpColumns:
    """Return the TCP segments of a capture; `ip` saves decoding the IPv4 headers twice."""
    ip = decode_ipv4(capture) if ip is None else ip
    whole = (ip.protocol == PROTOCOL_TCP) & (ip.fragment == 0) & (ip.header_len >= 20)
    chosen = np.flatnonzero(whole & (ip.cap_len >= ip.header_len + 20))
    at = ip.at[chosen] + ip.header_len[chosen]
    data_at = at + (capture.data[at + 12] >> 4).astype(np.int64) * 4
    captured_end = ip.at[chosen] + ip.cap_len[chosen]
    row = ip.row[chosen]
    return TcpColumns(
        row=row,
        time_ns=capture.time_ns[row],
        src=ip.src[chosen],
        dst=ip.dst[chosen],
        sport=gather(capture.data, at, ">u2"),
        dport=gather(capture.data, at + 2, ">u2"),
        seq=gather(capture.data, at + 4, ">u4"),
        ack=gather(capture.data, at + 8, ">u4"),
        flags=capture.data[at + 13],
        window=gather(capture.data, at + 14, ">u2"),
        ident=ip.ident[chosen],
        payload_len=np.maximum(ip.at[chosen] + ip.total_len[chosen] - data_at, 0),
        options_at=at + 20,
        options_end=np.minimum(data_at, captured_end),
    )
