# SPDX-License-Identifier: Apache-2.0
"""One-way delays and gaps between arrivals, as the application saw them."""

import numpy as np

from pathwarp.base.units import NS_PER_S
from pathwarp.measure.apps.messages import Messages

QUANTILES = (0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1)
SERIES_POINTS = 600
BEFORE_NS = NS_PER_S  # how much of the time before a failure a window has


def delays_ms(messages: Messages) -> np.ndarray:
    """Return the time from sending to reading of each packet."""
    return (messages.read_ns - messages.sent_ns) / 1e6


def quantiles(messages: Messages) -> dict[str, float]:
    """Return quantiles of the delay (ms), linear between packets; empty without packets."""
    if not len(messages):
        return {}
    return dict(zip(map(str, QUANTILES), np.quantile(delays_ms(messages), QUANTILES).tolist(), strict=True))


def series(messages: Messages, flow_start_ns: int) -> dict[str, list[float]]:
    """Return the delay over the sending time: the slowest packet of each of SERIES_POINTS equal slices of time."""
    if not len(messages):
        return {"time_s": [], "delay_ms": []}
    span_ns = max(int(messages.sent_ns[-1] - messages.sent_ns[0]) + 1, 1)
    part = (messages.sent_ns - messages.sent_ns[0]) * SERIES_POINTS // span_ns
    delay = delays_ms(messages)
    order = np.lexsort((delay, part))
    slowest = order[np.flatnonzero(np.diff(part[order], append=SERIES_POINTS))]
    return {"time_s": ((messages.sent_ns[slowest] - flow_start_ns) / 1e9).tolist(), "delay_ms": delay[slowest].tolist()}


def increase_ms(messages: Messages, failure_ns: int, recovered_ns: int, since_ns: int = 0) -> float | None:
    """Return the largest minus the smallest delay of the packets sent from 1 s before a failure until recovery.

    What was sent before `since_ns` belongs to another failure. The last packet read before this one always counts, so
    that sparse traffic, too, has a delay to compare with. None without packets. rejection21, section IV.
    """
    from_ns = max(failure_ns - BEFORE_NS, since_ns)
    calm = np.flatnonzero(messages.read_ns < failure_ns)
    if len(calm):
        from_ns = min(from_ns, int(messages.sent_ns[calm[-1]]))
    inside = (messages.sent_ns >= from_ns) & (messages.sent_ns <= recovered_ns)
    delay = delays_ms(messages)[inside]
    return float(delay.max() - delay.min()) if len(delay) else None


def largest_gap_ms(messages: Messages, from_ns: int, until_ns: int | None) -> float | None:
    """Return the longest time between two packets' readings that overlaps `from_ns` to `until_ns` (None: the end)."""
    rx_ns = np.sort(messages.read_ns)
    inside = rx_ns[1:] > from_ns
    if until_ns is not None:
        inside &= rx_ns[:-1] < until_ns
    gaps = np.diff(rx_ns)[inside]
    return float(gaps.max() / 1e6) if len(gaps) else None


def goodput_mbps(messages: Messages) -> float | None:
    """Return the payload bits read per time from first sending to last reading, in Mbit/s; None without packets."""
    if not len(messages):
        return None
    return float(messages.size.sum() * 8e3 / max(int(messages.read_ns.max() - messages.sent_ns.min()), 1))
