# SPDX-License-Identifier: Apache-2.0
"""The guest's orders: every file that it finds in its run folder, to the byte (docs/reference/data-files.md)."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from pathwarp.model.events.kind import Site
from pathwarp.model.events.registry import EVENT_KINDS
from pathwarp.model.schema.workload import ConstantWorkload
from pathwarp.model.traces import Burst, Trace, departures
from pathwarp.plan.events import TRACE
from pathwarp.plan.network import address_lines, macs
from pathwarp.plan.trial import Trial

FORMAT = 2
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
    sender, receiver = trial.topology.hosts
    paths = trial.topology.paths
    addresses, gateways = trial.topology.addresses(), trial.topology.gateways()
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
        "paths": list(paths),
        "preferred_path": trial.scenario.preferred_path,
        "addresses": addresses,
        "mtu_bytes": {name: path.mtu_bytes for name, path in paths.items()},
        "paths_setup": [
            {
                "name": name,
                "middle": path.middle,
                "mtu_bytes": path.mtu_bytes,
                "addresses": {host: addresses[host][name] for host in addresses},
                "gateways": {host: gateways[host][name] for host in gateways},
                "macs": macs(trial.topology, name),
                "lines": address_lines(trial.topology, name),
                **trial.replay.shapes[name],
            }
            for name, path in paths.items()
        ],
        **PORTS,
        "management": trial.topology.management(),
        "packet_bytes": trial.workload.packet_bytes,
        "duration_s": trial.virtual_s,
        "bursts": [list(burst) for burst in trial.replay.bursts],
        "constant": _constant(trial),
        "events": list(_events(trial)),
        **({"point": list(trial.point.values)} if trial.point.values else {}),
        **_losses(trial),
    }


def _losses(trial: Trial) -> dict[str, object]:
    """The packets to lose; where the scenario says nothing of them, nothing is looked at."""
    targets = trial.replay.losses
    return {} if targets is None else {"losses": [target._asdict() for target in targets]}


def _events(trial: Trial) -> Iterator[dict[str, object]]:
    """What happens to paths and when: the steps that the guest takes, and what these mean to measurement.

    `path_is` down when the event has the path fail, up when that ends. `expect` are the paths that have to have a
    subflow just before; they are looked at before each failure and before the first event of the scenario itself.
    """
    sites = {name: _site(trial, name) for name in trial.topology.paths}
    up = list(sites)
    looked = False
    for action in trial.replay.events:
        kind = EVENT_KINDS[action.kind]
        order: dict[str, object] = {"at_ns": action.at_ns, "at_s": action.at_ns / 1e9, "path": action.path}
        order |= {"kind": kind.name, "phase": action.phase}
        fails = kind.is_failure and action.phase == kind.begin.name
        if fails or not (looked or kind.name == TRACE):
            order["expect"], looked = list(up), True
        if fails:
            order |= {"path_is": "down", "heard": kind.heard}
            up.remove(action.path)
        elif kind.is_failure and action.phase == kind.end.name:
            order["path_is"] = "up"
            up = [path for path in sites if path in (*up, action.path)]
        site = replace(sites[action.path], shapes=action.shapes or {})
        yield {**order, "steps": list(kind.phase(action.phase).steps(site))}


def _site(trial: Trial, path: str) -> Site:
    sender, receiver = trial.topology.hosts
    return Site(
        path=path,
        middle=trial.topology.paths[path].middle,
        hosts=(sender, receiver),
        receiver=receiver,
        address=trial.topology.addresses()[receiver][path],
        lines=tuple(address_lines(trial.topology, path)[receiver]),
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
