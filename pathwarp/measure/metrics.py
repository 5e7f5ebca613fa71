# SPDX-License-Identifier: Apache-2.0
"""A run folder's metrics.json: every number's definition is in docs/reference/metrics.md."""

from pathlib import Path
from typing import Any

import numpy as np

from pathwarp.base.broken import unusable
from pathwarp.measure import bursts, delays, losses
from pathwarp.measure.analysis import Analysis, analyse
from pathwarp.measure.exactlosses import exact_losses
from pathwarp.measure.flows import flow_metrics
from pathwarp.measure.inputs import counter_changes
from pathwarp.measure.timing.course import course
from pathwarp.measure.transports import reinjections

FORMAT = 1
DECIMALS = 6


def measure(folder: Path) -> dict:
    """Return the metrics of a run folder; writes nothing."""
    trial = analyse(folder)
    with unusable(folder):
        return _measure(trial, folder)


def _measure(trial: Analysis, folder: Path) -> dict:
    resent, table = trial.resent, trial.packets
    chosen = exact_losses(trial.inputs, trial.connection, trial.decoded, table)
    of_bursts = burst_metrics(trial, chosen)
    of_losses = {"exact_losses": chosen, "burst_course": course(trial, of_bursts["affected_burst"])}
    return rounded(
        {
            "format": FORMAT,
            **(of_losses if "losses" in trial.inputs.plan else {}),
            **of_bursts,
            **delay_metrics(trial),
            **flow_metrics(trial),
            "goodput_mbps": delays.goodput_mbps(trial.messages),
            "reinjected_packets": int((resent.reinjected > 0).sum()),
            "reinjected_bytes": int(resent.reinjected.sum()),
            "spurious_reinjected_packets": int((resent.spurious > 0).sum()),
            "spurious_reinjected_bytes": int(resent.spurious.sum()),
            "reinjection_rate": reinjections.rate(table, resent, trial.periods),
            "retransmissions": per_path(trial, resent.retransmitted > 0),
            "packets_sent": per_path(trial, table.length > 0),
            "bytes_sent": per_path(trial, table.length),
            "packets_after_failure": packets_after_failure(trial),
            "oversized_packets": oversized_packets(trial),
            "counters": counter_changes(folder),
        }
    )


def rounded(value: Any) -> Any:
    """Return nested metrics with every float rounded, so that the last bits of an arithmetic unit don't show."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return round(value, DECIMALS) if isinstance(value, float) else value


def per_path(trial: Analysis, weights: np.ndarray) -> dict[str, int]:
    """Return the sum of a column of the packets for each path."""
    sums = np.bincount(trial.packets.path, weights, len(trial.inputs.paths))
    return {path: int(sums[number]) for number, path in enumerate(trial.inputs.paths)}


def burst_metrics(trial: Analysis, chosen: list[dict[str, Any]]) -> dict:
    """Return what is known of each burst, and of the one that met the failure or else the first of the exact losses."""
    planned, table = trial.bursts, trial.packets
    completion = bursts.completion_ms(planned, trial.messages)
    lost = bursts.losses(planned, table, bursts.originals_lost(table, trial.resent))
    lost_packets = np.bincount(lost.burst, minlength=len(planned)).tolist()
    first = {
        int(burst): int(lost.into[row]) for burst, row in zip(*np.unique(lost.burst, return_index=True), strict=True)
    }
    affected, fraction = None, None
    if trial.failure:
        taken = bursts.losses(planned, table, taken_by_failure(trial))
        if len(taken.burst):
            affected = int(taken.burst[0])
            fraction = bursts.position(planned, table, taken, trial.failure)
    elif (own := [entry for entry in chosen if entry["byte"] is not None]) and len(planned):
        byte = min(own, key=lambda entry: entry["lost"][0]["sent_s"])["byte"]
        affected = int(np.searchsorted(planned.offset, byte, side="right")) - 1
        fraction = (byte - int(planned.offset[affected])) / int(planned.size[affected])
    sizes = planned.size.tolist()
    return {
        "burst_completion_time_ms": [
            {
                "burst": number,
                "start_ms": start_ms,
                "size_bytes": sizes[number],
                "completion_time_ms": completion[number],
                "affected": number == affected,
                "lost_packets": lost_packets[number],
                "first_loss_fraction": first[number] / sizes[number] if number in first else None,
            }
            for number, start_ms in enumerate(planned.start_ms.tolist())
        ],
        "affected_burst": affected,
        "affected_burst_completion_time_ms": None if affected is None else completion[affected],
        "loss_position_fraction": fraction,
    }


def taken_by_failure(trial: Analysis) -> np.ndarray:
    """Return which packets the first failure took (bool)."""
    assert trial.failure, "asked for where a burst met one"
    return bursts.lost_by_failure(trial.inputs, trial.packets, trial.resent, trial.failure)


def delay_metrics(trial: Analysis) -> dict:
    """Return the delays of the application's packets, over the trial and around its failures."""
    messages, events = trial.messages, losses.loss_events(trial)
    summary = losses.medians(events)
    if not any(event["lost_packets"] for event in events):
        summary["max_interarrival_gap_ms"] = delays.largest_gap_ms(messages, trial.inputs.flow_start_ns, None)
    return {
        "loss_events": events,
        **summary,
        "one_way_delay_ms": {
            "quantiles": delays.quantiles(messages),
            "series": delays.series(messages, trial.inputs.flow_start_ns),
        },
    }


def packets_after_failure(trial: Analysis) -> dict[str, int]:
    """Return for each path that failed how many IPv4 packets of the sender the receiver's interface heard meanwhile."""
    sender, receiver = trial.inputs.ends
    senders = [trial.inputs.address(sender, path) for path in trial.inputs.paths]
    shared = [path for paths in trial.inputs.captured(receiver).values() if len(paths) > 1 for path in paths]
    heard = dict.fromkeys((failure.path for failure in trial.inputs.failures), 0)
    for failure in trial.inputs.failures:
        seen = trial.decoded[receiver, failure.path]
        time_ns = seen.capture.time_ns[seen.ip.row]
        during = (time_ns > failure.at_ns) & (failure.until_ns is None or time_ns < failure.until_ns)
        own = [trial.inputs.address(sender, failure.path)] if failure.path in shared else senders
        heard[failure.path] += int((during & np.isin(seen.ip.src, own)).sum())
    return heard


def oversized_packets(trial: Analysis) -> int:
    """Return how many IPv4 packets in all captures are larger than their path's MTU."""
    mtus = trial.inputs.plan["mtu_bytes"]
    return sum(
        int((trial.decoded[host, paths[0]].ip.total_len > mtus[paths[0]]).sum())
        for host in trial.inputs.ends
        for paths in trial.inputs.captured(host).values()
    )
