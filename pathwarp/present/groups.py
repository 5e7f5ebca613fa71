# SPDX-License-Identifier: Apache-2.0
"""Packets of a kind that follow each other closely, which a timing diagram labels together."""

from collections.abc import Sequence
from dataclasses import dataclass

from pathwarp.base.units import NS_PER_MS
from pathwarp.measure.kinds.kind import PacketKind
from pathwarp.measure.recovery import PacketEvent, Recovery

MOST_LABELS = 10  # beside one server's line
FEW = 12  # data packets in the window up to which each is labelled with its bytes


@dataclass(frozen=True)
class Group:
    """Data packets of one path, kind and fate, in the order sent."""

    events: tuple[PacketEvent, ...]

    @property
    def path(self) -> str:
        return self.events[0].path

    @property
    def kind(self) -> PacketKind:
        return self.events[0].kind

    @property
    def lost(self) -> bool:
        return self.events[0].arrived_ns is None


def group(recovery: Recovery, window: tuple[float, float], path: str) -> list[Group]:
    """Groups of the data packets that are sent on a path in the window, in the order of their first packet.

    A pause begins a new group: of more than a hundredth of the window, or of twice, four times, ... as much until there
    is room for all labels.
    """
    events = sorted((e for e in data_events(recovery, window) if e.path == path), key=lambda event: event.sent_ns)
    pause_ns = 0.01 * (window[1] - window[0]) * NS_PER_MS
    while len(groups := _cut(events, pause_ns)) > MOST_LABELS and pause_ns < (window[1] - window[0]) * NS_PER_MS:
        pause_ns *= 2
    return groups


def _cut(events: Sequence[PacketEvent], pause_ns: float) -> list[Group]:
    open_groups: dict[tuple[PacketKind, bool, str], list[PacketEvent]] = {}
    closed: list[list[PacketEvent]] = []
    for event in events:
        key = (event.kind, event.arrived_ns is None, event.label)
        members = open_groups.get(key)
        if members and event.sent_ns - members[-1].sent_ns <= pause_ns:
            members.append(event)
        else:
            open_groups[key] = [event]
            closed.append(open_groups[key])
    return [Group(tuple(members)) for members in closed]


def data_events(recovery: Recovery, window: tuple[float, float]) -> list[PacketEvent]:
    return [e for e in recovery.events if e.kind.carries_data and window[0] <= recovery.ms(e.sent_ns) <= window[1]]


def words(group: Group, recovery: Recovery, few: bool) -> str:
    """The label: what it is, on two lines with the time it was sent; with `few` packets also which bytes it carries."""
    first, last, n = group.events[0], group.events[-1], len(group.events)
    text = first.label or (group.kind.labels.text(n, group.lost) if group.kind.labels else group.kind.noun)
    if not first.label and n == 1 and group.path != recovery.failed_path and group.kind.names_path:
        text += f" on {path_words(group.path)}"
    begin, end = recovery.ms(first.sent_ns), recovery.ms(last.sent_ns)
    text += f"\n{begin:.1f} ms" if end - begin < 0.1 else f"\n{begin:.1f} to {end:.1f} ms"
    if few and n == 1:
        text += f"\nbytes {first.offset} to {first.offset + first.length - 1}"
    return text


def path_words(path: str) -> str:
    """A path's name as people write it: WLAN, 4G, Satellite."""
    return path.upper() if len(path) <= 4 else path.capitalize()
