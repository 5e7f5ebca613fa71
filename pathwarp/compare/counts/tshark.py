# SPDX-License-Identifier: Apache-2.0
"""tshark's MPTCP analysis of a trial's captures, by the tshark of the lab root."""

import struct
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pathwarp.base import program
from pathwarp.base.complaints import Complaints, Exit
from pathwarp.prepare.lab import lab_root
from pathwarp.wire import pcap

_MAGIC_NS = bytes.fromhex("4d3cb2a1")
# What the subflow itself sent before, in the words of tshark's analysis of TCP.
_AGAIN = ("retransmission", "fast_retransmission", "spurious_retransmission")
_FIELDS = (
    *("frame.time_epoch", "tcp.len", "tcp.stream", "mptcp.reinjection_of", "frame.number"),
    *(f"tcp.analysis.{name}" for name in _AGAIN),
)
_PREFERENCES = ("mptcp.analyze_mappings:TRUE", "mptcp.intersubflows_retransmission:TRUE")


class Reinjection(NamedTuple):
    """A packet with data that another subflow sent before: when, and how many bytes of payload."""

    time_ns: int
    length: int


def reinjections(root: Path, captures: Sequence[Path]) -> Counter[Reinjection]:
    """What only other subflows sent before, says tshark of one host's captures; Complaints (failed) when it can't."""
    rows = [line.split("\t") for line in _run(root, _merge(captures)).splitlines()]
    stream_of = {row[4]: row[2] for row in rows}
    found: Counter[Reinjection] = Counter()
    for time, length, stream, earlier, _, *again in rows:
        if earlier and not any(again) and stream not in {stream_of.get(frame) for frame in earlier.split(",")}:
            found[Reinjection(int(Decimal(time) * 1_000_000_000), int(length))] += 1
    return found


def _merge(captures: Sequence[Path]) -> bytes:
    """One capture of all, in the order of time, since tshark finds reinjections only within one."""
    tables = [pcap.read(path) for path in captures]
    order = np.argsort(np.concatenate([table.time_ns for table in tables]), kind="stable").tolist()
    packets = [(table, row) for table in tables for row in range(len(table))]
    merged = [_MAGIC_NS + struct.pack("<HHiIII", 2, 4, 0, 0, 262144, pcap.ETHERNET)]
    for table, row in (packets[place] for place in order):
        seconds, fraction = divmod(int(table.time_ns[row]), 1_000_000_000)
        at, length = int(table.at[row]), int(table.cap_len[row])
        merged.append(struct.pack("<IIII", seconds, fraction, length, int(table.wire_len[row])))
        merged.append(table.data[at : at + length].tobytes())
    return b"".join(merged)


def _run(root: Path, capture: bytes) -> str:
    command = [
        "unshare",
        "--user",
        "--map-root-user",
        "chroot",
        str(lab_root(root)),
        "tshark",
        "-r",
        "-",
        "-T",
        "fields",
    ]
    command += ["-Y", "tcp.len > 0", *(word for name in _FIELDS for word in ("-e", name))]
    command += [word for preference in _PREFERENCES for word in ("-o", preference)]
    done = program.run(command, given=capture, environment={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/"})
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise Complaints.one("tshark", f"failed with exit status {done.returncode}: {said}", code=Exit.FAILED)
    return done.stdout.decode()
