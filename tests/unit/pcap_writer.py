# SPDX-License-Identifier: Apache-2.0
"""Hand-made captures: Ethernet, IPv4, TCP and MPTCP options, byte by byte."""

import ipaddress
import struct
from pathlib import Path

TIMESTAMPS = bytes.fromhex("0101080a0000000100000002")
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16

# An address and a port.
End = tuple[str, int]


def segment(
    source: End,
    target: End,
    seq: int,
    flags: int = ACK,
    payload: int = 0,
    options: bytes = b"",
    ident: int = 0,
    ack: int = 0,
    ip_options: bytes = b"",
    fragment: int = 0,
) -> bytes:
    """Return a TCP segment in an Ethernet frame, padded to Ethernet's shortest; the payload is zeros."""
    options += b"\1" * (-len(options) % 4)
    doff = (20 + len(options)) // 4
    tcp = struct.pack(">HHIIBBHHH", source[1], target[1], seq % 2**32, ack % 2**32, doff << 4, flags, 1000, 0, 0)
    return frame(source[0], target[0], 6, tcp + options + bytes(payload), ident, ip_options, fragment)


def frame(
    source: str, target: str, protocol: int, body: bytes, ident: int = 0, ip_options: bytes = b"", fragment: int = 0
) -> bytes:
    """Return an IPv4 packet in an Ethernet frame."""
    header = 20 + len(ip_options)
    ip = struct.pack(">BBHHHBBH", 0x40 | header // 4, 0, header + len(body), ident % 2**16, fragment, 64, protocol, 0)
    addresses = ipaddress.IPv4Address(source).packed + ipaddress.IPv4Address(target).packed
    return (bytes(12) + b"\x08\x00" + ip + addresses + ip_options + body).ljust(60, b"\0")


def option(subtype: int, flags: int, body: bytes) -> bytes:
    """Return an MPTCP option; `flags` are the four bits after the subtype."""
    return bytes([30, 3 + len(body), subtype << 4 | flags]) + body


def dss(
    dsn: int | None = None,
    ssn: int = 0,
    length: int = 0,
    ack: int | None = None,
    wide: bool = True,
    wide_ack: bool = True,
    fin: bool = False,
    checksum: bool = False,
) -> bytes:
    """Return a DSS option with a mapping, a data ACK, or both, each of 8 (`wide`) or 4 bytes."""
    flags, body = 16 * fin, b""
    if ack is not None:
        flags |= 1 | 2 * wide_ack
        body += struct.pack(">Q", ack % 2**64)[0 if wide_ack else 4 :]
    if dsn is not None:
        flags |= 4 | 8 * wide
        body += struct.pack(">Q", dsn % 2**64)[0 if wide else 4 :] + struct.pack(">IH", ssn, length)
        body += b"\xaa\xbb" if checksum else b""
    return option(2, 0, bytes([flags]) + body)


def capable(*keys: int, length: int | None = None, checksum: bool = False) -> bytes:
    """Return an MP_CAPABLE of version 1 with no, one or two keys, and a data-level length where there is data."""
    body = b"\x01" + b"".join(struct.pack(">Q", key) for key in keys)
    body += b"" if length is None else struct.pack(">H", length)
    return option(0, 1, body + (b"\xaa\xbb" if checksum else b""))


def join(address_id: int, token: int) -> bytes:
    """Return the MP_JOIN of a SYN."""
    return option(1, 0, bytes([address_id]) + struct.pack(">II", token, 7))


def write(path: Path, packets: list[tuple[int, bytes]], snap: int = 128, nano: bool = True, order: str = "<") -> Path:
    """Write (time in ns, frame) as a capture that keeps the first `snap` bytes of each frame."""
    magic, unit_ns = (0xA1B23C4D, 1) if nano else (0xA1B2C3D4, 1000)
    out = struct.pack(order + "IHHIIII", magic, 2, 4, 0, 0, snap, 1)
    for time_ns, data in packets:
        seconds, rest = divmod(time_ns, 1_000_000_000)
        out += struct.pack(order + "IIII", seconds, rest // unit_ns, len(data[:snap]), len(data)) + data[:snap]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(out)
    return path
