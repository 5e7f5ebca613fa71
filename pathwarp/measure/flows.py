# SPDX-License-Identifier: Apache-2.0
"""All flows of a trial that lists some: what each one got, and how evenly they share links (metrics.md, Flows)."""

from dataclasses import dataclass, replace
from typing import Any

from pathwarp.base.broken import broken
from pathwarp.measure import delays
from pathwarp.measure.analysis import Analysis
from pathwarp.measure.apps.messages import Messages
from pathwarp.measure.apps.registry import APPLICATIONS
from pathwarp.measure.inputs import Inputs
from pathwarp.measure.transports import streams, subflows
from pathwarp.measure.transports.carried import Carried
from pathwarp.measure.transports.registry import TRANSPORTS


@dataclass(frozen=True)
class Flow:
    """One flow: its orders, its messages, and what its transport did in the flow's own time, from start to stop."""

    name: str
    orders: dict
    messages: Messages
    carried: Carried


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
    messages, carried = flow.messages, flow.carried
    from_ns, until_ns = _own_time(flow.orders, inputs)
    in_time = (messages.read_ns >= from_ns) & (messages.read_ns < until_ns)
    quantiles = delays.quantiles(messages)
    return {
        "flow": flow.name,
        "sender": flow.orders["sender"],
        "receiver": flow.orders["receiver"],
        "transport": flow.orders["transport"],
        "goodput_mbps": int(messages.size[in_time].sum()) * 8e3 / (until_ns - from_ns),
        "messages_read": len(messages),
        "packets_sent": carried.sent,
        "lost_packets": carried.lost,
        "retransmitted_packets": carried.retransmitted,
        "reinjected_packets": carried.reinjected,
        "first_s": float((messages.sent_ns.min() - inputs.flow_start_ns) / 1e9) if len(messages) else None,
        "last_s": float((messages.read_ns.max() - inputs.flow_start_ns) / 1e9) if len(messages) else None,
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
                across[leaving] = across.get(leaving, 0) + flow.carried.arrived_bytes.get(path, 0)
        for leaving, size in across.items():
            shares.setdefault(leaving, []).append(size * 8e3 / (orders["stop_ns"] - orders["start_ns"]))
    return {link: {"flows": len(rates), "index": jain(rates)} for link, rates in shares.items() if len(rates) > 1}


def _own_time(orders: dict, inputs: Inputs) -> tuple[int, int]:
    """From when until when a flow is meant to send (epoch ns)."""
    return inputs.flow_start_ns + orders["start_ns"], inputs.flow_start_ns + orders["stop_ns"]


def _primary(trial: Analysis) -> Flow:
    plan = trial.inputs.plan
    orders = {**plan, "start_ns": 0, "stop_ns": round(plan["duration_s"] * 1e9)}
    own_time = _own_time(orders, trial.inputs)
    carried = streams.of_packets(trial.inputs, trial.packets, trial.resent, *own_time)
    return Flow(plan["flow"], orders, trial.messages, carried)


def _load(inputs: Inputs, orders: dict) -> Flow:
    own = replace(inputs, plan={**inputs.plan, **orders}, guest={**inputs.guest, "events": []})
    application = APPLICATIONS[orders["application"]]
    path = inputs.folder / "logs" / application.load.format(name=orders["name"])
    messages = application.read(path, inputs.flow_start_ns)
    if not len(messages):
        raise broken(path, f"has no packets: the flow {orders['name']} sent nothing", "what did its sender print?")
    carried = TRANSPORTS[orders["transport"]](own, subflows.load(own), *_own_time(orders, inputs))
    return Flow(orders["name"], orders, messages, carried)
