# SPDX-License-Identifier: Apache-2.0
"""Traces: what an application sends, burst by burst, as CSV files and as D-ITG's departures.

A trace file has the header `start_ms,size_bytes` and one line per burst. This module is on the start-up path: standard
library only.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pathwarp.base.atomic import write_data_file
from pathwarp.base.complaints import Complaint, Complaints, enough
from pathwarp.base.plainfile import read_plain

HEADER = ("start_ms", "size_bytes")
START_MS = re.compile(r"[0-9]{1,12}(\.[0-9]{1,9})?")
SIZE_BYTES = re.compile(r"[0-9]{1,10}")

# D-ITG 2.8.1's header inside the payload of a TCP flow. ITGSend raises a smaller payload to this without saying so.
SMALLEST_PACKET_BYTES = 24

# ITGSend refuses a time of 0. Below 1 us its sleep rounds to nothing and it goes on at once.
BACK_TO_BACK_MS = 0.0001


class Burst(NamedTuple):
    """`size_bytes` of payload, handed to the transport back to back `start_ms` after the start of the flow."""

    start_ms: float
    size_bytes: int


@dataclass(frozen=True)
class Trace:
    """The bursts of one flow in the order of their starts."""

    bursts: tuple[Burst, ...]

    @property
    def size_bytes(self) -> int:
        """Payload of all bursts."""
        return sum(burst.size_bytes for burst in self.bursts)


def read_csv(path: Path, duration_s: float = math.inf) -> Trace:
    """Read the trace at `path`; every burst has to start before `duration_s`.

    Raises Complaints with all that is wrong, each with its line.
    """
    try:
        text = read_plain(Path(path)).decode("utf-8")
    except FileNotFoundError:
        raise Complaints.one(str(path), "no such trace", hint="bin/pathwarp traffic generate NAME writes it") from None
    except (OSError, UnicodeDecodeError) as error:
        raise Complaints.one(str(path), f"cannot be read: {error}", valid="a CSV file in UTF-8") from None
    lines = [line.split(",") for line in text.splitlines()] or [[""]]
    complaints: list[Complaint] = []
    bursts: list[Burst] = []
    if tuple(lines[0]) != HEADER:
        complaints.append(Complaint(f"{path}:1", f"header is {','.join(lines[0])[:60]!r}", ",".join(HEADER)))
    last_ms = -1.0
    for number, fields in enumerate(lines[1:], start=2):
        if enough(complaints, f"{path}:{number}", len(lines) - number + 1):
            break
        found = list(_line_complaints(fields, last_ms, duration_s * 1000))
        complaints += [
            Complaint(f"{path}:{number}", complaint.what, complaint.valid, complaint.hint) for complaint in found
        ]
        if START_MS.fullmatch(fields[0]):
            last_ms = max(last_ms, float(fields[0]))
        if not found:
            bursts.append(Burst(float(fields[0]), int(fields[1])))
    if not bursts and not complaints:
        complaints.append(Complaint(str(path), "has no bursts", "at least one line after the header"))
    if complaints:
        raise Complaints(complaints)
    return Trace(tuple(bursts))


def _line_complaints(fields: list[str], last_ms: float, end_ms: float) -> Iterator[Complaint]:
    """What is wrong with a line after one that starts at `last_ms`, in a trace that ends at `end_ms`."""
    if len(fields) != len(HEADER):
        yield Complaint("", f"has {len(fields)} fields", f"{len(HEADER)}: {','.join(HEADER)}")
        return
    start, size = fields
    if not START_MS.fullmatch(start):
        yield Complaint("", f"start_ms is {start[:60]!r}", "milliseconds from the start of the flow, such as 1250.000")
    elif float(start) <= last_ms:
        yield Complaint("", f"start_ms is {start}, after {last_ms:.3f} above", "starts in rising order, each only once")
    elif float(start) >= end_ms:
        hint = "shorten the trace, or raise traces.duration of the workload"
        yield Complaint("", f"start_ms is {start}, at or after the end", f"less than {end_ms:.0f}", hint)
    if not SIZE_BYTES.fullmatch(size):
        yield Complaint("", f"size_bytes is {size[:60]!r}", "a whole number of bytes")
    elif int(size) < SMALLEST_PACKET_BYTES:
        yield Complaint("", f"size_bytes is {size}", f"{SMALLEST_PACKET_BYTES} or more, the smallest that D-ITG sends")


def write_csv(path: Path, trace: Trace) -> None:
    """Write `trace` to `path`, whole or not at all; a missing folder is made. Complaints where that cannot be."""
    lines = [",".join(HEADER), *(f"{burst.start_ms:.3f},{burst.size_bytes}" for burst in trace.bursts)]
    write_data_file(Path(path), "\n".join(lines) + "\n")


def packet_sizes(size_bytes: int, packet_bytes: int) -> list[int]:
    """Split a burst into payloads of `packet_bytes`; the last is shorter.

    Where it would be shorter than D-ITG can send, it takes what is missing from the one before it, so that neither
    the number of packets nor the sum changes.
    """
    full, rest = divmod(size_bytes, packet_bytes)
    sizes = [packet_bytes] * full + ([rest] if rest else [])
    missing = SMALLEST_PACKET_BYTES - sizes[-1]
    if missing > 0 and full:
        sizes[-2:] = [packet_bytes - missing, SMALLEST_PACKET_BYTES]
    return sizes


def departures(trace: Trace, packet_bytes: int) -> tuple[list[float], list[int]]:
    """The trace as ITGSend replays it: waits in ms for `-Ft` and payload sizes in bytes for `-Fs`, one per packet.

    As D-ITG 2.8.1 reads them (tried with the program): wait i is between the departures of packets i-1 and i. The
    first one is the wait of ITGSend itself, cut to whole milliseconds, before it connects; the first packet leaves as
    soon as the connection is up. At the end the lists start over, so ITGSend has to be told their length (`-z`); the
    first wait passes once more before it ends. Write waits with four decimals: a line holds 28 characters at most.
    """
    waits_ms: list[float] = []
    sizes: list[int] = []
    clock_ms = 0.0
    for burst in trace.bursts:
        packets = packet_sizes(burst.size_bytes, packet_bytes)
        wait_ms = max(round(burst.start_ms - clock_ms, 4), BACK_TO_BACK_MS)
        waits_ms += [wait_ms] + [BACK_TO_BACK_MS] * (len(packets) - 1)
        sizes += packets
        # Counting the waits inside the burst too keeps later bursts on the trace's clock.
        clock_ms += wait_ms + BACK_TO_BACK_MS * (len(packets) - 1)
    return waits_ms, sizes
