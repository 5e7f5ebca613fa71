# SPDX-License-Identifier: Apache-2.0
"""Classic pcap files as columns."""

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pathwarp.base import interrupt
from pathwarp.base.broken import broken

FILE_HEADER = 24
RECORD_HEADER = 16
ETHERNET = 1

# The file's first four bytes: byte order of its integers, nanoseconds in a unit of its fractions of a second.
MAGICS = {
    bytes.fromhex("d4c3b2a1"): ("<", 1000),
    bytes.fromhex("4d3cb2a1"): ("<", 1),
    bytes.fromhex("a1b2c3d4"): (">", 1000),
    bytes.fromhex("a1b23c4d"): (">", 1),
}


@dataclass(frozen=True)
class Capture:
    """The packets of one file in the order captured.

    `time_ns` (int64, since the epoch), `wire_len` and `cap_len` (uint32, bytes on the wire and in the file), `at`
    (int64, where a packet's first byte lies in `data`). `truncated`: the file ends inside a packet, which is left out.
    """

    path: Path
    data: np.ndarray
    time_ns: np.ndarray
    wire_len: np.ndarray
    cap_len: np.ndarray
    at: np.ndarray
    truncated: bool

    def __len__(self) -> int:
        return len(self.at)


def gather(data: np.ndarray, at: np.ndarray, dtype: str) -> np.ndarray:
    """Return the values that lie at the byte positions `at` of `data` (uint8), in this machine's byte order.

    Overlapping strides make a value of every position without a copy of the file.
    """
    kind = np.dtype(dtype)
    native = kind.newbyteorder("=")
    if not len(at):
        return np.empty(0, native)
    window = np.ndarray((data.size - kind.itemsize + 1,), kind, buffer=data, strides=(1,))
    return window[at].astype(native, copy=False)


def walk(data: bytes, order: str) -> tuple[list[int], bool]:
    """Return where each whole record begins, and whether the file ends inside one."""
    unpack = struct.Struct(order + "8xI").unpack_from
    records: list[int] = []
    append = records.append
    at, size = FILE_HEADER, len(data)
    last = size - RECORD_HEADER
    while at <= last:
        end = at + RECORD_HEADER + unpack(data, at)[0]
        if end > size:
            break
        append(at)
        at = end
    return records, at != size


def read(path: Path) -> Capture:
    """Read an Ethernet capture with microsecond or nanosecond times, of either byte order.

    A file that ends inside a packet keeps the whole ones. Raises Complaints for a file that is no such capture.
    """
    interrupt.check()
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise broken(path, error.strerror or "cannot be read") from error
    if len(data) < FILE_HEADER or data[:4] not in MAGICS:
        raise broken(path, "is not a packet capture", "a classic pcap file is needed, as tcpdump -w writes it")
    order, unit_ns = MAGICS[data[:4]]
    (link,) = struct.unpack_from(order + "I", data, 20)
    if link & 0xFFFF != ETHERNET:
        raise broken(path, f"has link type {link & 0xFFFF}", "only Ethernet captures (link type 1) can be measured")
    records, truncated = walk(data, order)
    record = np.array(records, dtype=np.int64)
    columns = np.frombuffer(data, np.uint8)
    seconds, fraction, cap_len, wire_len = (gather(columns, record + 4 * i, order + "u4") for i in range(4))
    time_ns = seconds.astype(np.int64) * 1_000_000_000 + fraction.astype(np.int64) * unit_ns
    return Capture(path, columns, time_ns, wire_len, cap_len, record + RECORD_HEADER, truncated)


def between(capture: Capture, from_ns: int, until_ns: int) -> bytes:
    """The file with the packets of that time alone, both ends included; in ns since the epoch."""
    chosen = np.flatnonzero((capture.time_ns >= from_ns) & (capture.time_ns <= until_ns))
    begins, ends = capture.at[chosen] - RECORD_HEADER, capture.at[chosen] + capture.cap_len[chosen].astype(np.int64)
    parts = [capture.data[:FILE_HEADER], *(capture.data[begin:end] for begin, end in zip(begins, ends, strict=True))]
    return b"".join(part.tobytes() for part in parts)
