# SPDX-License-Identifier: Apache-2.0
"""Where two run folders of one trial begin to differ, byte by byte, in words: for captures the packet."""

import ipaddress
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from pathwarp.base.complaints import Complaints
from pathwarp.wire import pcap, tcp

# The two sides, as they are called in every message.
SIDES = ("sealed", "now")
_LONGEST = 160  # characters of a line shown
_BYTES = 8  # of a packet, shown from the first that differs
Side = TypeVar("Side")
_FLAGS = {tcp.SYN: "SYN", tcp.FIN: "FIN", tcp.RST: "RST", tcp.PSH: "PSH", tcp.ACK: "ACK"}


@dataclass(frozen=True)
class Difference:
    """The first difference of two files: where, when if it is a packet (epoch ns), and what each side has there."""

    where: str
    at_ns: int | None
    sides: tuple[str, str]
    remark: str = ""

    def lines(self, flow_start_ns: int | None) -> list[str]:
        """In words; the time counts from the start of the flow where that is known."""
        when = ""
        if self.at_ns is not None:
            since, of = (self.at_ns - flow_start_ns, "flow") if flow_start_ns else (self.at_ns, "epoch")
            when = f", {since / 1e9:.9f} s after the start of the {of}"
        width = max(map(len, SIDES))
        told = [f"{side + ':':<{width + 1}} {text}" for side, text in zip(SIDES, self.sides, strict=True)]
        return [f"{self.where}{when}", *told, *([self.remark] if self.remark else [])]


def first_difference(sealed: Path, now: Path, names: Sequence[str]) -> Difference:
    """The first packet that differs in any of the named files, or, when no capture does, the first file's difference.

    All of the files differ between the two folders.
    """
    found = [_of_file(sealed / name, now / name, name) for name in names]
    packets = [(difference.at_ns, number) for number, difference in enumerate(found) if difference.at_ns is not None]
    return found[min(packets)[1] if packets else 0]


def _of_file(sealed: Path, now: Path, name: str) -> Difference:
    there = sealed.is_file(), now.is_file()
    if not all(there):
        return Difference(name, None, _both(there, lambda found: "there" if found else "not there"))
    if name.endswith(".pcap"):
        try:
            return _of_captures(pcap.read(sealed), pcap.read(now), name)
        except Complaints:
            pass  # One of them is no capture: then its bytes are all there is to tell.
    one, two = sealed.read_bytes(), now.read_bytes()
    at = _first(np.frombuffer(one, np.uint8), np.frombuffer(two, np.uint8))
    if b"\0" in one or b"\0" in two:
        return Difference(f"{name}, byte {at}", None, _both((one, two), lambda data: _hex(data, at)))
    begin = one.rfind(b"\n", 0, at) + 1  # The line begins at the same byte on both sides.
    number = one.count(b"\n", 0, begin) + 1
    return Difference(f"{name}, line {number}", None, _both((one, two), lambda data: _line(data, begin)))


def _of_captures(sealed: pcap.Capture, now: pcap.Capture, name: str) -> Difference:
    at = _first(sealed.data, now.data)
    # All before that byte is equal, so the packets begin at the same places.
    longer = max(sealed, now, key=len)
    row = int(np.searchsorted(longer.at - pcap.RECORD_HEADER, at, side="right")) - 1
    if row < 0:
        return Difference(f"{name}, file header", None, _both((sealed, now), lambda side: _hex(side.data, at)))
    times = [int(side.time_ns[row]) for side in (sealed, now) if row < len(side)]
    words = _both((sealed, now), lambda side: _packet(side, row))
    remark = ""
    if len(times) == 2:
        later_ns = times[1] - times[0]
        if later_ns:
            remark = f"now {abs(later_ns)} ns {'later' if later_ns > 0 else 'earlier'}"
        elif words[0] == words[1]:
            into = at - int(sealed.at[row])
            both = (_hex(side.data, at) for side in (sealed, now))
            remark = f"they differ from byte {into} of the packet on: {' and '.join(both)}"
    return Difference(f"{name}, packet {row + 1}", min(times), words, remark)


def _both(sides: tuple[Side, Side], tell: Callable[[Side], str]) -> tuple[str, str]:
    return tell(sides[0]), tell(sides[1])


def _first(one: np.ndarray, two: np.ndarray) -> int:
    """The first byte that differs; the length of the shorter one when that is a prefix of the other."""
    shared = min(len(one), len(two))
    unequal = one[:shared] != two[:shared]
    return int(np.argmax(unequal)) if unequal.any() else shared


def _packet(capture: pcap.Capture, row: int) -> str:
    if row >= len(capture):
        return f"no packet: the capture ends after {len(capture)}"
    size = f"{int(capture.wire_len[row])} B on the wire"
    segments = tcp.decode(capture)
    found = np.flatnonzero(segments.row == row)
    if not len(found):
        return f"a packet of {size} that is not TCP over IPv4"
    i = int(found[0])
    ends = (
        f"{ipaddress.IPv4Address(int(address[i]))}:{int(port[i])}"
        for address, port in ((segments.src, segments.sport), (segments.dst, segments.dport))
    )
    flags = " ".join(word for bit, word in _FLAGS.items() if segments.flags[i] & bit)
    numbers = f"seq {int(segments.seq[i])}, ack {int(segments.ack[i])}, window {int(segments.window[i])}"
    return f"{' > '.join(ends)} {flags}, {numbers}, {int(segments.payload_len[i])} B of data, {size}"


def _hex(data: bytes | np.ndarray, at: int) -> str:
    shown = bytes(data[at : at + _BYTES])
    return shown.hex(" ") if shown else "the end of the file"


def _line(data: bytes, begin: int) -> str:
    if begin >= len(data):
        return "the end of the file"
    end = data.find(b"\n", begin)
    text = data[begin : end if end >= 0 else len(data)].decode(errors="replace")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
