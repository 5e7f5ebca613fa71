# SPDX-License-Identifier: Apache-2.0
"""The guest's orders: every file that it finds in its run folder, to the byte (docs/reference/data-files.md)."""

import json
from functools import lru_cache

from pathwarp.model.schema.workload import ConstantWorkload
from pathwarp.model.traces import Burst, Trace, departures
from pathwarp.plan.trial import Trial

FORMAT = 1
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
        "settings": [str(setting) for setting in trial.settings],
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
        "events": [dict(event) for event in trial.replay.events],
    }


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
