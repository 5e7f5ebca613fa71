# SPDX-License-Identifier: Apache-2.0
"""Bursts of the traffic: how long each took, what it lost, which one met the failure."""

from dataclasses import dataclass

import numpy as np

from pathwarp.base.broken import broken
from pathwarp.measure.apps.messages import Messages
from pathwarp.measure.inputs import Failure, Inputs
from pathwarp.measure.transports.packets import Packets
from pathwarp.measure.transports.reinjections import Resent
from pathwarp.model.traces import packet_sizes


@dataclass(frozen=True)
class Bursts:
    """The planned bursts, one after the other in the stream, since D-ITG writes a packet of n bytes as n bytes to it.

    `offset` is the stream's bytes before a burst, `first_seq` the number of its first packet, `packets` their number.
    """

    start_ms: np.ndarray
    size: np.ndarray
    offset: np.ndarray
    first_seq: np.ndarray
    packets: np.ndarray
    packet_bytes: int

    def __len__(self) -> int:
        return len(self.size)


@dataclass(frozen=True)
class Losses:
    """Which lost packets had data of which bursts: a row for each burst that a lost packet touches, in the order sent.

    `into` is the byte of the burst (from 0) at which the loss begins.
    """

    burst: np.ndarray
    packet: np.ndarray
    into: np.ndarray


def lay_out(plan: dict) -> Bursts:
    """Return the bursts of a plan; a burst is sent as packets of `packet_bytes`, the last one shorter."""
    table = np.array(plan["bursts"], float).reshape(-1, 2)
    size, packet = table[:, 1].astype(np.int64), int(plan["packet_bytes"])
    packets = -(-size // packet)
    return Bursts(table[:, 0], size, np.cumsum(size) - size, np.cumsum(packets) - packets + 1, packets, packet)


def require_planned(bursts: Bursts, messages: Messages, where: object) -> None:
    """Raise Complaints when packets are not the plan's by number and size, so no burst gets another's packets."""
    if not len(bursts):
        return
    repeated = np.diff(messages.number, prepend=0) == 0
    if repeated.any():
        raise broken(where, f"has packet {messages.number[int(np.argmax(repeated))]} twice")
    sizes = [size for burst in bursts.size.tolist() for size in packet_sizes(burst, bursts.packet_bytes)]
    beyond = messages.number > len(sizes)
    planned = np.where(beyond, 0, np.array(sizes)[np.minimum(messages.number, len(sizes)) - 1])
    wrong = messages.size != planned
    if wrong.any():
        row = int(np.argmax(wrong))
        raise broken(where, f"packet {messages.number[row]} has {messages.size[row]} bytes, the plan {planned[row]}")


def completion_ms(bursts: Bursts, messages: Messages) -> list[float | None]:
    """Return the time from the sending of each burst's first packet to the reading of its last; None without all."""
    if not len(bursts):
        return []
    burst = np.searchsorted(bursts.first_seq, messages.number, side="right") - 1
    read = np.bincount(burst, minlength=len(bursts))
    first = np.searchsorted(messages.number, bursts.first_seq)
    last_ns = np.zeros(len(bursts), np.int64)
    np.maximum.at(last_ns, burst, messages.read_ns)
    whole = read == bursts.packets
    return [
        (int(last_ns[number]) - int(messages.sent_ns[first[number]])) / 1e6 if whole[number] else None
        for number in range(len(bursts))
    ]


def losses(bursts: Bursts, packets: Packets, lost: np.ndarray) -> Losses:
    """Return the bursts that the lost packets (bool) touch."""
    packet = np.flatnonzero(lost)
    start, end = packets.offset[packet], packets.end[packet]
    first = np.searchsorted(bursts.offset + bursts.size, start, side="right")
    count = np.searchsorted(bursts.offset, end, side="left") - first
    burst = np.arange(count.sum()) + np.repeat(first - (np.cumsum(count) - count), count)
    packet, start = np.repeat(packet, count), np.repeat(start, count)
    return Losses(burst, packet, np.maximum(start - bursts.offset[burst], 0))


def originals_lost(packets: Packets, resent: Resent) -> np.ndarray:
    """Return which packets had new data and were not delivered (bool)."""
    return (resent.new > 0) & ~packets.delivered


def lost_by_failure(inputs: Inputs, packets: Packets, resent: Resent, failure: Failure) -> np.ndarray:
    """Return which packets with new data a failure took (bool): lost on its path before it ended.

    They were sent behind the last packet that got through; one lost ahead of that fell to something else.
    """
    on_path = packets.path == inputs.paths.index(failure.path)
    through = np.flatnonzero(on_path & packets.delivered & (packets.time_ns < failure.at_ns))
    behind = np.arange(len(packets)) > (through[-1] if len(through) else -1)
    before_end = failure.until_ns is None or packets.time_ns < failure.until_ns
    return on_path & behind & before_end & originals_lost(packets, resent)


def position(bursts: Bursts, packets: Packets, taken: Losses, failure: Failure) -> float:
    """Return where in a burst the failure's loss began, as a fraction of the burst that lost first.

    By the rule of closer19, section 6: a loss between bursts counts as at the end of a burst (1.0). That is a failure
    before the burst's first packet was sent, and a burst of one packet, of which the paper says that it is always so.
    """
    burst, into = int(taken.burst[0]), int(taken.into[0])
    sent = packets.time_ns[np.argmax((packets.offset <= bursts.offset[burst]) & (packets.end > bursts.offset[burst]))]
    if bursts.packets[burst] == 1 or sent >= failure.at_ns:
        return 1.0
    return into / int(bursts.size[burst])
