# SPDX-License-Identifier: Apache-2.0
"""All flows of a trial that lists some: what each one got, and how evenly they share links (metrics.md, Flows)."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pathwarp.base.broken import broken
from pathwarp.measure import delays
from pathwarp.measure.analysis import Analysis
from pathwarp.measure.apps import ditg
from pathwarp.measure.inputs import Inputs
from pathwarp.measure.transports import datagrams, packets, reinjections, subflows

# Of an application: its log in the guest's `logs`, and who reads it.
_LOGS = {"ditg": ("load-{name}-receiver.txt", ditg.read)}


@dataclass(frozen=True)
class Flow:
    """One flow: its orders, the packets that its receiver read, and what its transport did, path by path.

    `sent`, `lost` and `retransmitted` are packets with data, `arrived_bytes` the payload that each path delivered in
    the flow's own time, from start to stop.
    """

    name: str
    orders: dict
    log: ditg.ReceiverLog
    sent: int
    lost: int
    retransmitted: int | None
    reinjected: int | None
    arrived_bytes: dict[str, int]


def flow_metrics(trial: Analysis) -> dict[str, Any]:
    """Return `flows` and `fairness_index`; nothing for a trial that lists no flows."""
    plan = trial.inputs.plan
    if "load" not in plan:
        return {}
    flows = [_primary(trial), *(_load(trial.inputs, orders) for orders in plan["load"])]
    shaped = {place["link"] for place in plan["network"]["shapes"]}
    return {"flows": [_entry(flow, trial.inputs) for flow in flows], "fairness_index": _fairness(flows, shaped)}


def jain(shares: list[float]) -> float | None:
    """Return Jain's index of shares: 1 when all are the same, 1 / n when one has all; None when nobody has any."""
    squares = sum(share * share for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares else None


def _entry(flow: Flow, inputs: Inputs) -> dict[str, Any]:
    log = flow.log
    quantiles = delays.quantiles(log)
    return {
        "flow": flow.name,
        "sender": flow.orders["sender"],
        "receiver": flow.orders["receiver"],
        "transport": flow.orders["transport"],
        "goodput_mbps": int(log.size[_within(log.rx_ns, flow.orders, inputs)].sum()) * 8e3 / _span_ns(flow.orders),
        "messages_read": len(log),
        "packets_sent": flow.sent,
        "lost_packets": flow.lost,
        "retransmitted_packets": flow.retransmitted,
        "reinjected_packets": flow.reinjected,
        "first_s": float((log.tx_ns.min() - inputs.flow_start_ns) / 1e9) if len(log) else None,
        "last_s": float((log.rx_ns.max() - inputs.flow_start_ns) / 1e9) if len(log) else None,
        "delay_ms": {name: quantiles[name] for name in ("0.5", "0.95")} if quantiles else {},
    }


def _fairness(flows: list[Flow], shaped: set[str]) -> dict[str, Any]:
    """Return Jain's index of the rates at which the flows' payload crossed each shaped link that several share.

    Each in its own time, from start to stop; a link's directions count for themselves.
    """
    shares: dict[str, list[float]] = {}
    for flow in flows:
        orders = flow.orders
        across: dict[str, int] = {}
        for path, links in orders["links"].items():
            for link, node in (leg for leg in links if leg[0] in shaped):
                leaving = f"{link} from {node}"
                across[leaving] = across.get(leaving, 0) + flow.arrived_bytes.get(path, 0)
        for leaving, size in across.items():
            shares.setdefault(leaving, []).append(size * 8e3 / _span_ns(orders))
    return {link: {"flows": len(rates), "index": jain(rates)} for link, rates in shares.items() if len(rates) > 1}


def _span_ns(orders: dict) -> int:
    """How long a flow is meant to last."""
    return orders["stop_ns"] - orders["start_ns"]


def _within(time_ns: np.ndarray, orders: dict, inputs: Inputs) -> np.ndarray:
    """Return which instants (epoch ns) lie in a flow's own time (bool)."""
    since = time_ns - inputs.flow_start_ns
    return (since >= orders["start_ns"]) & (since < orders["stop_ns"])


def _primary(trial: Analysis) -> Flow:
    plan, resent = trial.inputs.plan, trial.resent
    orders = {**plan, "start_ns": 0, "stop_ns": round(plan["duration_s"] * 1e9)}
    return _of_packets(plan["flow"], orders, trial.log, trial.packets, resent, trial.inputs)


def _load(inputs: Inputs, orders: dict) -> Flow:
    own = replace(inputs, plan={**inputs.plan, **orders}, guest={**inputs.guest, "events": []})
    name, read = _LOGS[orders["application"]]
    path = inputs.folder / "logs" / name.format(name=orders["name"])
    log = read(path, inputs.flow_start_ns)
    if not len(log):
        raise broken(path, f"has no packets: the flow {orders['name']} sent nothing", "what did its sender print?")
    decoded = subflows.load(own)
    if orders["transport"] == "udp":
        sent, got = datagrams.count(own, decoded)
        arrived = {orders["preferred_path"]: int(log.size[_within(log.rx_ns, orders, inputs)].sum())}
        return Flow(orders["name"], orders, log, sent, sent - got, None, None, arrived)
    connection = subflows.find_connection(own, decoded)
    table = packets.collect(own, connection, decoded)
    return _of_packets(orders["name"], orders, log, table, reinjections.classify(table), own)


def _of_packets(
    name: str, orders: dict, log: ditg.ReceiverLog, table: packets.Packets, resent: reinjections.Resent, own: Inputs
) -> Flow:
    arrived = table.arrival_ns != packets.LOST
    in_time = arrived & _within(table.arrival_ns, orders, own)
    bytes_on = np.bincount(table.path[in_time], table.length[in_time], len(own.paths))
    return Flow(
        name=name,
        orders=orders,
        log=log,
        sent=len(table),
        lost=int((~arrived).sum()),
        retransmitted=int((resent.retransmitted > 0).sum()),
        reinjected=int((resent.reinjected > 0).sum()) if orders["transport"] == "mptcp" else None,
        arrived_bytes={path: int(bytes_on[number]) for number, path in enumerate(own.paths)},
    )
