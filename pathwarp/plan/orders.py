# SPDX-License-Identifier: Apache-2.0
"""The guest's orders: every file that it finds in its run folder, to the byte (docs/reference/data-files.md)."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from pathwarp.model.events.kind import Site
from pathwarp.model.events.registry import EVENT_KINDS
from pathwarp.model.schema.workload import ConstantWorkload
from pathwarp.model.traces import Burst, Trace, departures
from pathwarp.plan import network as networks
from pathwarp.plan import signalling
from pathwarp.plan.addressing import all_lines, host_lines
from pathwarp.plan.events import TRACE
from pathwarp.plan.flows import hosts_of, load_orders, passed
from pathwarp.plan.joins import all_joins
from pathwarp.plan.network import Network
from pathwarp.plan.taps import taps
from pathwarp.plan.trial import Trial

FORMAT = 3
PLAN = "logs/plan.json"
WAITS, SIZES = "logs/waits.txt", "logs/sizes.txt"

# The flow's port; the first of those, downwards, that take joins; D-ITG's signalling port (fixed in D-ITG).
PORTS = {"port": 8999, "join_port": 8998, "signalling_port": 9000}


def orders(trial: Trial, release: str) -> dict[str, bytes]:
    """File, relative to the run folder, to its content: the plan, and the departures that ITGSend replays.

    A constant rate is all in the plan. `release` is what the trial's kernel calls itself (`uname -r`).
    """
    plan = json.dumps(plan_of(trial, release), sort_keys=True, allow_nan=False).encode()
    return {PLAN: plan, **_departures(trial.replay.bursts, trial.workload.packet_bytes)}


def plan_of(trial: Trial, release: str) -> dict[str, object]:
    """What the guest is to do, ready for JSON."""
    sender, receiver = ends = trial.ends
    network = networks.build(trial.topology)
    routes = network.paths(*ends)
    preferred = trial.scenario.preferred_path
    own = {sender: network.first, receiver: network.last}
    hosts = hosts_of(trial.topology, trial.scenario)
    return {
        "format": FORMAT,
        "release": release,
        "scenario": trial.scenario.name,
        "settings": [str(override) for override in trial.overrides],
        "variant": trial.variant.name,
        "traffic": trial.workload.name,
        "seed": trial.seed,
        "transport": trial.variant.transport,
        "sysctls": trial.sysctls,
        "hosts": [sender, receiver],
        "sender": sender,
        "receiver": receiver,
        "paths": [route.path for route in routes],
        "preferred_path": preferred,
        "addresses": {host: {route.path: end(route).address for route in routes} for host, end in own.items()},
        "interfaces": {host: {route.path: end(route).name for route in routes} for host, end in own.items()},
        "mtu_bytes": {route.path: network.first(route).mtu_bytes for route in routes},
        "network": _network(trial, network, hosts),
        "joins": all_joins(network, trial.scenario, ends, trial.variant.transport),
        **PORTS,
        "management": signalling.addresses(hosts),
        "packet_bytes": trial.workload.packet_bytes,
        "duration_s": trial.virtual_s,
        "bursts": [list(burst) for burst in trial.replay.bursts],
        "constant": _constant(trial),
        "events": list(_events(trial, network)),
        **({"point": list(trial.point.values)} if trial.point.values else {}),
        **_losses(trial, network),
        **_load(trial, network),
    }


def _network(trial: Trial, network: Network, hosts: Sequence[str]) -> dict[str, object]:
    """Nodes, cables in the order in which they are laid, `ip` lines of each node, and what is shaped where."""
    return {
        "hosts": list(network.hosts),
        "routers": [*network.routers, *signalling.routers(hosts)],
        "cables": [
            [{"node": end.node, "interface": end.name, "mac": end.mac} for end in cable] for cable in network.cables
        ],
        "signalling": signalling.cables(hosts),
        "lines": all_lines(network, signalling.lines(hosts), trial.scenario.preferred_path),
        "captures": [{"host": host, "interface": end.name} for host in hosts for end in network.interfaces[host]],
        "shapes": [
            {"link": link, "direction": way, "node": end.node, "interface": end.name, "mtu_bytes": end.mtu_bytes}
            | {"shape": trial.replay.shapes[link][way]}
            for (link, way), end in network.shaped.items()
        ],
    }


def _load(trial: Trial, network: Network) -> dict[str, object]:
    """The flows beside the one that the metrics are about; nothing where the scenario lists no flows."""
    if trial.scenario.flows is None:
        return {}
    flows = load_orders(network, trial.scenario, trial.load, trial.variant.transport)
    assert trial.scenario.primary, "rules see to it"
    return {"flow": trial.scenario.primary.name, "links": passed(network.paths(*trial.ends)), "load": list(flows)}


def _losses(trial: Trial, network: Network) -> dict[str, object]:
    """The packets to lose, and where; where the scenario says nothing of them, nothing is looked at."""
    targets = trial.replay.losses
    if targets is None:
        return {}
    return {"losses": [target._asdict() for target in targets], "taps": taps(network, trial.ends)}


def _events(trial: Trial, network: Network) -> Iterator[dict[str, object]]:
    """What happens to paths and when: the steps that the guest takes, and what these mean to measurement.

    `path_is` down when the event has the path fail, up when that ends. `expect` are the paths that have to have a
    subflow just before; they are looked at before each failure and before the first event of the scenario itself.
    """
    paths = [route.path for route in network.paths(*trial.ends)]
    up = list(paths)
    looked = False
    for action in trial.replay.events:
        kind = EVENT_KINDS[action.kind]
        order: dict[str, object] = {"at_ns": action.at_ns, "at_s": action.at_ns / 1e9}
        order |= {"link": action.link, "path": action.path}
        order |= {"kind": kind.name, "phase": action.phase}
        fails = kind.is_failure and action.path is not None and action.phase == kind.begin.name
        if fails or not (looked or kind.name == TRACE):
            order["expect"], looked = list(up), True
        if fails:
            order |= {"path_is": "down", "heard": kind.heard}
            up = [path for path in up if path != action.path]
        elif kind.is_failure and action.path is not None and action.phase == kind.end.name:
            order["path_is"] = "up"
            up = [path for path in paths if path in (*up, action.path)]
        site = replace(_site(trial, network, action.link, action.path), shapes=action.shapes or {})
        yield {**order, "steps": list(kind.phase(action.phase).steps(site))}


def _site(trial: Trial, network: Network, link: str, path: str | None) -> Site:
    receiver = trial.ends[1]
    leaves = [network.shaped[link, way] for way in ("up", "down") if (link, way) in network.shaped]
    end = next((end for end in network.interfaces[receiver] if end.link == link), None)
    return Site(
        link=link,
        path=path or "",
        leaves=tuple((leave.node, leave.name) for leave in leaves),
        receiver=receiver,
        interface=end.name if end else "",
        address=end.address if end else "",
        lines=tuple(host_lines(network, end, trial.scenario.preferred_path)) if end else (),
        is_mptcp=trial.variant.transport == "mptcp",
        shapes={},
    )


def _constant(trial: Trial) -> dict[str, object] | None:
    """The rate of a constant workload and the packets that this comes to; None for bursts."""
    if not isinstance(trial.workload, ConstantWorkload):
        return None
    packets = trial.workload.packets(trial.scenario.duration_ns)
    return {"packets_s": float(trial.workload.packets_s), "packets": packets}


# The variants of a seed come one after the other and replay the same.
@lru_cache(maxsize=2)
def _departures(bursts: tuple[Burst, ...], packet_bytes: int) -> dict[str, bytes]:
    """The bursts as ITGSend replays them: waits in ms, payloads in bytes; no files without bursts."""
    if not bursts:
        return {}
    waits_ms, sizes = departures(Trace(bursts), packet_bytes)
    return {
        WAITS: "".join(f"{wait_ms:.4f}\n" for wait_ms in waits_ms).encode(),
        SIZES: "".join(f"{size}\n" for size in sizes).encode(),
    }
