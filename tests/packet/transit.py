# SPDX-License-Identifier: Apache-2.0
"""A link with jitter as it is documented, held against what the captures on both sides of it have."""

import importlib
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

GUEST = Path(__file__).resolve().parents[2] / "pathwarp" / "guest"

# Two queues that each wake up for a packet, on a clock of 256 ns and timers of 500 ns at least, behind other timers.
LATE_NS = 2048
_U32 = 2**32 - 1


@dataclass(frozen=True)
class Packet:
    """When it was sent into the link, how long it is, and when it arrived; `place` is that among the arrivals."""

    sent_ns: int
    length: int
    arrived_ns: int
    place: int


@dataclass(frozen=True)
class Link:
    """One direction of a trial's path over the middle node: its shape in the orders, its packets."""

    folder: Path
    path: str
    way: str

    @cached_property
    def shape(self) -> dict:
        return self._place["shape"]

    @cached_property
    def _plan(self) -> dict:
        return json.loads((self.folder / "logs" / "plan.json").read_text())

    @cached_property
    def _place(self) -> dict:
        shapes = self._plan["network"]["shapes"]
        return next(place for place in shapes if (place["link"], place["direction"]) == (self.path, self.way))

    @cached_property
    def packets(self) -> list[Packet]:
        """In the order sent; those that were under way at the end are left out."""
        ends = ("server", "client") if self.way == "down" else ("client", "server")
        sent, arrived = (self._seen(end, self._plan["addresses"][ends[0]][self.path]) for end in ends)
        places = defaultdict(list)
        for place, (at_ns, _, content) in enumerate(arrived):
            places[content].append((at_ns, place))
        for found in places.values():
            found.reverse()
        return [Packet(at_ns, size, *places[content].pop()) for at_ns, size, content in sent if places[content]]

    def _seen(self, end: str, source: str) -> list[tuple[int, int, bytes]]:
        """Instant, length and what no router changes, of the packets from an address in the capture at one end."""
        capture = (self.folder / "captures" / f"{end}-{self.path}.pcap").read_bytes()
        address, at, found = bytes(map(int, source.split("."))), 24, []
        while at < len(capture):
            seconds, ns, kept, size = (int.from_bytes(capture[at + 4 * i : at + 4 * i + 4], "little") for i in range(4))
            content = capture[at + 16 : at + 16 + kept]
            if content[26:30] == address:
                found.append((seconds * 1_000_000_000 + ns, size, content[18:20] + content[34:]))
            at += 16 + kept
        return found

    @cached_property
    def served_ns(self) -> list[int]:
        """When each packet has left the queue: at the link's rate, one behind the other."""
        done_ns, instants = 0, []
        for packet in self.packets:
            done_ns = max(packet.sent_ns, done_ns) + packet.length * 8 * 1_000_000_000 // self.shape["rate_bit_s"]
            instants.append(done_ns)
        return instants

    @property
    def drawn_ns(self) -> list[int]:
        """What each packet took on top of queue and delay."""
        pairs = zip(self.packets, self.served_ns, strict=True)
        return [packet.arrived_ns - served_ns - self.shape["delay_ns"] for packet, served_ns in pairs]

    @property
    def overtaken(self) -> int:
        """How many packets arrive before one that was sent before them."""
        latest, count = -1, 0
        for packet in self.packets:
            count += packet.place < latest
            latest = max(latest, packet.place)
        return count

    def mismatches(self) -> list[int]:
        """The packets, by number, that didn't arrive when the seed's draws say."""
        wrong, latest_ns, keeps_order = [], 0, not self.shape["jitter"]["reorder"]
        rows = zip(self.packets, self.served_ns, self._draws(), strict=False)
        for number, (packet, served_ns, draw_ns) in enumerate(rows):
            due_ns = served_ns + self.shape["delay_ns"] + draw_ns
            due_ns = max(due_ns, latest_ns) if keeps_order else due_ns
            if not 0 <= packet.arrived_ns - due_ns < LATE_NS:
                wrong.append(number)
            latest_ns = packet.arrived_ns
        return wrong

    def _draws(self) -> Iterator[int]:
        """What the kernel's netem draws, from the seed that the guest reports."""
        jitter = self.shape["jitter"]
        wide_ns, cells = _table(jitter["kind"], jitter["spread_ns"])
        numbers, held = _numbers(self._seed), round(jitter["memory"] * _U32)
        number = next(numbers) if held else 0
        while True:
            if not held or next(numbers) >= held:
                number = next(numbers)
            cell = cells[number % len(cells)]
            fine = wide_ns % 8192 * cell
            yield wide_ns // 8192 * cell + (abs(fine) + 4096) // 8192 * (1 if fine >= 0 else -1)

    @property
    def _seed(self) -> int:
        said = json.loads((self.folder / "logs" / "guest.json").read_text())["qdiscs"][self._place["node"]]
        begin = f"draws dev {self._place['interface']} "
        return next(int(line.split()[-1]) for line in said if line.startswith(begin))


def _table(kind: str, spread_ns: int) -> tuple[int, list[int]]:
    """The guest's own: unit tests hold what is in it."""
    sys.path.insert(0, str(GUEST))
    try:
        return importlib.import_module("draws").table(kind, spread_ns)
    finally:
        sys.path.remove(str(GUEST))


def _numbers(seed: int) -> Iterator[int]:
    """The kernel's prandom_u32_state(), a Tausworthe generator (L'Ecuyer 1999), as netem seeds it."""
    first = (seed >> 32 ^ seed << 10 ^ seed) & _U32
    state = [first + least if first < least else first for least in (2, 8, 16, 128)]
    steps = ((6, 13, 1, 18), (2, 27, 7, 2), (13, 21, 15, 7), (3, 12, 127, 13))
    while True:
        for place, (left, right, mask, shift) in enumerate(steps):
            one = state[place]
            state[place] = ((one & ~mask & _U32) << shift & _U32) ^ ((one << left & _U32) ^ one) >> right
        yield state[0] ^ state[1] ^ state[2] ^ state[3]
