# SPDX-License-Identifier: Apache-2.0
"""What every application's log becomes: one table of the messages that its receiver read."""

from dataclasses import dataclass

import numpy as np

from pathwarp.base.broken import broken


@dataclass(frozen=True)
class Messages:
    """The messages that were read: number (from 1), payload bytes, when sent and when read (epoch ns).

    In the order of their numbers. With D-ITG a message is what it calls a packet: what is handed over at once.
    """

    number: np.ndarray
    size: np.ndarray
    sent_ns: np.ndarray
    read_ns: np.ndarray

    def __len__(self) -> int:
        return len(self.number)


def check_constant(messages: Messages, most: int, size: int, where: object) -> None:
    """Raise Complaints when the messages are not those of a constant rate: up to `most`, each once, of one size."""
    wrong = (np.diff(messages.number, prepend=0) == 0) | (messages.number > most) | (messages.size != size)
    if wrong.any():
        row = int(np.argmax(wrong))
        found = f"packet {messages.number[row]} of {messages.size[row]} bytes"
        raise broken(where, f"{found} is not one of the plan's {most} of {size}")
