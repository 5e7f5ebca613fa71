# SPDX-License-Identifier: Apache-2.0
"""D-ITG's receiver log, as ITGDec writes it in text, as columns."""

from pathlib import Path

import numpy as np

from pathwarp.base.broken import broken
from pathwarp.measure.apps.messages import Messages

DAY_NS = 86_400_000_000_000
FIELDS = ("Flow", "Seq", "Src", "Dest", "txTime", "rxTime", "Size")
COLONS = 4  # two in each of the two times


def whole_numbers(text: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the whole numbers in text[start:end], a digit of all rows at a time; other characters are skipped."""
    value = np.zeros(len(start), np.int64)
    for step in range(int((end - start).max(initial=0))):
        at = np.minimum(start + step, end - 1)
        digit = text[at].astype(np.int64) - ord("0")
        value = np.where((start + step < end) & (digit >= 0) & (digit <= 9), value * 10 + digit, value)
    return value


def times_of_day(text: np.ndarray, start: np.ndarray, colon: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Return nanoseconds since midnight of `h:m:s.ffffff` (six decimals), whose colons and point lie where stated."""
    hours = whole_numbers(text, start, colon[:, 0])
    minutes = whole_numbers(text, colon[:, 0] + 1, colon[:, 1])
    seconds = whole_numbers(text, colon[:, 1] + 1, point)
    microseconds = whole_numbers(text, point + 1, point + 7)
    return ((hours * 60 + minutes) * 60 + seconds) * 1_000_000_000 + microseconds * 1000


def to_epoch(of_day: np.ndarray, near_ns: int) -> np.ndarray:
    """Return the instants (epoch ns) of times of day (UTC) in the 12 hours before and after `near_ns`."""
    return near_ns + (of_day - near_ns + DAY_NS // 2) % DAY_NS - DAY_NS // 2


def read(path: Path, near_ns: int) -> Messages:
    """Read a log; `near_ns` (epoch ns) is an instant of the trial, since the log has the time of day only, in us.

    Raises Complaints when the file is missing or a line is not one of ITGDec's over IPv4.
    """
    try:
        text = np.frombuffer(path.read_bytes(), np.uint8)
    except OSError as error:
        raise broken(path, error.strerror or "cannot be read") from error
    line = np.flatnonzero(text == ord("\n")) + 1
    mark: np.ndarray = np.flatnonzero(text == ord(">"))
    colon: np.ndarray = np.flatnonzero(text == ord(":"))
    if len(text) and (not len(line) or line[-1] != len(text)):
        raise broken(path, "ends inside a line", "the decoder was interrupted?")
    begin = np.concatenate(([0], line[:-1])) if len(line) else line
    for places, number in ((mark, len(FIELDS)), (colon, COLONS)):
        count = np.diff(np.searchsorted(places, line), prepend=0)
        if (count != number).any():
            raise broken(path, f"line {int(np.argmax(count != number)) + 1} is not a packet of ITGDec's")
    mark, colon = mark.reshape(-1, len(FIELDS)), colon.reshape(-1, COLONS)
    starts = {name: mark[:, place] + 1 for place, name in enumerate(FIELDS)}
    ends = {name: mark[:, place + 1] - len(FIELDS[place + 1]) for place, name in enumerate(FIELDS[:-1])}
    labels = {name: starts[name] - 1 - len(name) for name in ("Flow", "Seq", "txTime", "rxTime", "Size")}
    wrong = labels["Flow"] != begin
    for name, at in labels.items():
        wrong |= text[np.maximum(at, 0)] != ord(name[0])
    tx_point, rx_point = ends["txTime"] - 8, ends["rxTime"] - 8  # the point, six decimals, a blank
    wrong |= (text[tx_point] != ord(".")) | (text[rx_point] != ord("."))
    if wrong.any():
        raise broken(path, f"line {int(np.argmax(wrong)) + 1} is not a packet of ITGDec's")
    seq = whole_numbers(text, starts["Seq"], ends["Seq"])
    order = np.argsort(seq, kind="stable")
    tx = times_of_day(text, starts["txTime"], colon[:, :2], tx_point)
    rx = times_of_day(text, starts["rxTime"], colon[:, 2:], rx_point)
    size = whole_numbers(text, starts["Size"], line)
    return Messages(seq[order], size[order], to_epoch(tx, near_ns)[order], to_epoch(rx, near_ns)[order])
