# SPDX-License-Identifier: Apache-2.0
"""Two runs of one of the kernel's own tests, packet by packet: what their devices sent and got."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pathwarp.base.complaints import Complaint, Complaints, Exit
from pathwarp.compare.packets.divergence import WORDS, find_divergence
from pathwarp.compare.packets.sightings import COLUMNS, DATA_FIN_BIT, NO_FLOW, Sightings, from_isn, number_flows, spread
from pathwarp.compare.packets.words import flags_and_options
from pathwarp.plan.selftest import ORDERS
from pathwarp.wire import mptcp, pcap, tcp
from pathwarp.wire.mptcp import Subtype

_CONTEXT = 5
_LOW = 0xFFFFFFFF


@dataclass(frozen=True)
class Run:
    """A run folder with captures: its name among the two, and what all devices have, `path` being the device's number.

    Times count from the beginning of the test. Connections have the numbers in the order of their first packet.
    """

    name: str
    folder: Path
    devices: Sequence[str]
    sightings: Sightings


def is_selftest(folder: Path) -> bool:
    # As in pathwarp.compare.packets.side.
    return os.path.isfile(folder / ORDERS)


def report_runs(one: Path, two: Path) -> Iterator[str]:
    """The lines: what the runs have in common, the first packet that differs, and how each of them goes on.

    Complaints for a folder without captures.
    """
    devices = sorted({path.stem for folder in (one, two) for path in (folder / "captures").glob("*.pcap")})
    missing = [folder for folder in (one, two) if not list((folder / "captures").glob("*.pcap"))]
    if missing:
        hint = "run the test with capture=1"
        raise Complaints((Complaint(str(folder), "has no captures", hint=hint) for folder in missing), Exit.FAILED)
    runs = [
        Run(name, folder, devices, _collect(folder, devices)) for name, folder in zip("ab", (one, two), strict=True)
    ]
    for run in runs:
        yield f"{run.name}  {run.folder}"
    found = find_divergence(runs[0].sightings, runs[1].sightings)
    if found is None:
        yield f"They are the same packet for packet, {len(runs[0].sightings)} on all devices."
        return
    whose = found.alone or 0
    before = found.before[whose]
    yield f"They share the first {len(before)} packets of all devices"
    yield ""
    yield from (_line(runs[whose], row) for row in before[-_CONTEXT:])
    yield ""
    yield f"First difference, {found.at_ns / 1e9:.6f} s from the test's beginning:"
    for run, row in zip(runs, found.rows, strict=True):
        if row is None:
            yield f"  {run.name}: no such packet"
        else:
            yield f"  {run.name}: {_line(run, row).strip()}"
    if found.columns:
        yield f"  it differs in: {', '.join(WORDS[name] for name in found.columns)}"
    for number, run in enumerate(runs):
        yield ""
        yield f"{run.name} goes on:"
        yield from (_line(run, row) for row in found.after[number][:_CONTEXT])


def _collect(folder: Path, devices: Sequence[str]) -> Sightings:
    begin_ns = int(json.loads((folder / "logs" / "guest.json").read_text())["begin_ns"])
    there = [(number, folder / "captures" / f"{name}.pcap") for number, name in enumerate(devices)]
    parts = [_read(path, number, begin_ns) for number, path in there if path.is_file()]
    table = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.lexsort((table["path"], table["time_ns"]))
    table = {name: column[order] for name, column in table.items()}
    table["flow"] = number_flows(table)
    table["seq"], table["ack"] = from_isn(table)
    for name, has in (("dsn", "has_map"), ("data_ack", "has_ack")):
        table[name] = _from_first(table, name, has)
    return Sightings(**{name: table[name].astype(np.int64) for name in COLUMNS})


def _read(path: Path, number: int, begin_ns: int) -> dict[str, np.ndarray]:
    """The columns of a device's capture: its IPv4 packets."""
    capture = pcap.read(path)
    ip = tcp.decode_ipv4(capture)
    segments = tcp.decode(capture, ip)
    options = mptcp.decode(capture, segments)
    rows, of_tcp = len(ip.row), np.searchsorted(ip.row, segments.row)
    source, target = (
        address.astype(np.int64) << 16 | port
        for address, port in ((segments.src, segments.sport), (segments.dst, segments.dport))
    )
    columns = {
        "near": np.minimum(source, target),
        "far": np.maximum(source, target),
        "forward": source < target,
        "payload": segments.payload_len,
        "flags": segments.flags,
        "seq": segments.seq,
        "ack": segments.ack,
        "options": options.subtypes | options.data_fin.astype(np.uint16) << DATA_FIN_BIT,
        "address_id": options.address_id,
        "has_map": options.has_map & ~options.initial,
        "dsn": options.dsn,
        "dlen": options.dlen,
        "has_ack": options.has_ack,
        "data_ack": options.data_ack,
    }
    return {
        "time_ns": capture.time_ns[ip.row] - begin_ns,
        "host": np.zeros(rows, np.int64),
        "path": np.full(rows, number),
        "sent": np.ones(rows, np.int64),
        "protocol": ip.protocol,
        "size": ip.total_len,
        **{name: spread(values, of_tcp, rows) for name, values in columns.items()},
    }


def _from_first(table: dict[str, np.ndarray], name: str, has: str) -> np.ndarray:
    """A number of the connection level, from the first one of its flow and direction; 0 where there is none."""
    numbers = table[name].astype(np.int64)
    known = table[has] & (table["flow"] >= 0)
    directions = 2 * table["flow"].astype(np.int64) + table["forward"]
    bases = np.zeros(2 * int(table["flow"].max(initial=0)) + 2, np.int64)
    first_of, first = np.unique(directions[known], return_index=True)
    bases[first_of] = numbers[known][first]
    return np.where(known, (numbers - bases[np.maximum(directions, 0)]) & _LOW, 0)


def _line(run: Run, row: int) -> str:
    """When, on which device and connection, and what."""
    seen = run.sightings.row(row)
    head = f"{seen['time_ns'] / 1e9:14.6f} s  {run.devices[seen['path']]}"
    if seen["flow"] == NO_FLOW:
        return f"{head}: IP protocol {seen['protocol']}, {seen['size']} B"
    parts = [f"connection {seen['flow'] + 1}"]
    if names := flags_and_options(seen):
        parts.append(names)
    if seen["payload"]:
        parts.append(f"{seen['payload']} B, seq {seen['seq']}")
    elif seen["flags"] & tcp.ACK:
        parts.append(f"ACK {seen['ack']}")
    if seen["options"] & 1 << Subtype.DSS:
        parts.append(f"DSN {seen['dsn']}" if seen["dlen"] else f"data ACK {seen['data_ack']}")
    return f"{head}: {', '.join(parts)}"
