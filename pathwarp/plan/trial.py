# SPDX-License-Identifier: Apache-2.0
"""Trials: one scenario, variant, traffic and seed each, with all inputs resolved."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from pathwarp.base import interrupt
from pathwarp.base.complaints import Complaint, Complaints, gather
from pathwarp.model.catalogue import Catalogue
from pathwarp.model.links.files import Followed, follow
from pathwarp.model.load import Experiment, load_experiment, trace_path
from pathwarp.model.overrides import Setting, label
from pathwarp.model.schema.scenario import Scenario
from pathwarp.model.schema.topology import Topology
from pathwarp.model.schema.variant import ResolvedVariant
from pathwarp.model.schema.workload import Workload
from pathwarp.model.traces import Burst, read_csv
from pathwarp.plan.events import plan_events
from pathwarp.plan.shapes import Shapes, plan_shapes

FORMAT = 1

# The flow's port; the first of those, downwards, that take joins; D-ITG's signalling port (fixed in D-ITG).
PORTS = {"port": 8999, "join_port": 8998, "signalling_port": 9000}
MOST_RUNS = 10_000
LARGEST_SEED = 1_000_000_000

# Backend to the times in which its guests can run.
TIME_MODES = {
    "uml": {"virtual": "inf-cpu", "real": "wall-clock"},
    "vm": {"virtual": "wall-clock", "real": "wall-clock"},
}


@dataclass(frozen=True)
class Request:
    """What the user asked for. Empty variants and traffic, and no runs, mean the scenario's defaults."""

    root: Path
    scenario: str
    variants: tuple[str, ...] = ()
    traffic: tuple[str, ...] = ()
    seed: int = 1
    runs: int | None = None
    backend: str = "uml"
    settings: tuple[Setting, ...] = ()
    with_baseline: bool = False


@dataclass(frozen=True)
class Replay:
    """A trace, numbered from 1, cut to the scenario's duration, and what happens to the network in the meantime.

    `sha256` is the hash of the trace's file. A workload of a constant rate has no traces, so no number, hash and
    bursts. `shapes` (those that paths begin with) and `events` are as `pathwarp.plan.events` describes them;
    `link_traces` are the hashes of the files that links follow.
    """

    number: int | None
    sha256: str | None
    bursts: tuple[Burst, ...]
    shapes: Mapping[str, Shapes]
    events: tuple[dict[str, object], ...]
    link_traces: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Trial:
    """One run to be done."""

    scenario: Scenario
    topology: Topology
    pinned: Mapping[str, str] = field(repr=False)
    workload: Workload
    variant: ResolvedVariant
    seed: int
    replay: Replay = field(repr=False)
    backend: str
    settings: tuple[Setting, ...]

    @cached_property
    def folder(self) -> Path:
        """Where the result goes, relative to the project's folder."""
        scenario = label(self.scenario.name, self.settings, self.backend)
        return Path("results", scenario, self.variant.name, self.workload.name, f"seed-{self.seed:03d}")

    @property
    def title(self) -> str:
        """Which trial it is, in a line."""
        return f"{self.scenario.name} {self.variant.name} {self.workload.name} seed {self.seed}"

    @property
    def virtual_s(self) -> float:
        """How long the emulated experiment lasts."""
        return self.scenario.duration_ns / 1e9

    @property
    def time_mode(self) -> str:
        """`inf-cpu`: virtual time, in which code takes none (vms/uml-start.sh). `wall-clock`: the host's."""
        return TIME_MODES[self.backend][self.scenario.time]

    @cached_property
    def sysctls(self) -> dict[str, str]:
        """What both hosts set: what every guest does, the scenario's on top of it, the variant's on top of both."""
        scheduler = {"net.mptcp.scheduler": self.scenario.scheduler}
        return {**self.pinned, **self.scenario.sysctls, **self.variant.sysctls, **scheduler}

    def inputs(self, hashes: Mapping[str, str]) -> dict[str, object]:
        """All that the result depends on. `hashes` are of what no data file says: kernel, lab root, guest code."""
        return {
            "format": FORMAT,
            "plan": self.guest_plan(),
            "trace_sha256": self.replay.sha256,
            "link_traces": dict(self.replay.link_traces),
            "backend": self.backend,
            "time_mode": self.time_mode,
            "hashes": dict(hashes),
        }

    def id(self, hashes: Mapping[str, str]) -> str:
        """SHA-256 of the inputs, in hexadecimal: equal ids, equal results.

        Titles, numbers of runs and the choice of metrics are no inputs, so editing them does not void what was run.
        """
        text = json.dumps(self.inputs(hashes), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def guest_plan(self) -> dict[str, object]:
        """The guest's orders for JSON (docs/reference/data-files.md, plan.json); the runner fills in `release`."""
        sender, receiver = self.topology.hosts
        paths = self.topology.paths
        addresses, gateways = self.topology.addresses(), self.topology.gateways()
        return {
            "format": FORMAT,
            "release": None,
            "scenario": self.scenario.name,
            "settings": [str(setting) for setting in self.settings],
            "variant": self.variant.name,
            "traffic": self.workload.name,
            "seed": self.seed,
            "transport": self.variant.transport,
            "sysctls": self.sysctls,
            "hosts": [sender, receiver],
            "sender": sender,
            "receiver": receiver,
            "paths": list(paths),
            "preferred_path": self.scenario.preferred_path,
            "addresses": addresses,
            "mtu_bytes": {name: path.mtu_bytes for name, path in paths.items()},
            "paths_setup": [
                {
                    "name": name,
                    "middle": path.middle,
                    "mtu_bytes": path.mtu_bytes,
                    "addresses": {host: addresses[host][name] for host in addresses},
                    "gateways": {host: gateways[host][name] for host in gateways},
                    **self.replay.shapes[name],
                }
                for name, path in paths.items()
            ],
            **PORTS,
            "management": self.topology.management(),
            "packet_bytes": self.workload.packet_bytes,
            "duration_s": self.scenario.duration_ns / 1e9,
            "bursts": [list(burst) for burst in self.replay.bursts],
            "constant": self._constant(),
            "events": [dict(event) for event in self.replay.events],
        }

    def _constant(self) -> dict[str, object] | None:
        """The rate of a constant workload and the packets that this comes to; None for bursts."""
        if self.workload.traces:
            return None
        packets = self.workload.packets(self.scenario.duration_ns)
        return {"packets_s": float(self.workload.packets_s), "packets": packets}


def plan_trials(request: Request) -> list[Trial]:
    """All trials of a request, in the order in which they are run; Complaints for all that is wrong with the input.

    Seed n replays trace (n - 1) mod count + 1, of workloads and of links. The variants of one traffic and seed come one
    after the other, so that what an interrupted call leaves behind can be compared in pairs.
    """
    catalogue = Catalogue(request.root)
    complaints = list(_number_complaints(request))
    experiment = None
    with gather(complaints):
        names = (request.scenario, request.variants, request.traffic, request.settings)
        experiment = load_experiment(catalogue, *names, with_baseline=request.with_baseline)
    if complaints:
        raise Complaints(complaints)
    runs = request.runs or experiment.scenario.runs
    seeds = range(request.seed, request.seed + runs)
    trials: list[Trial] = []
    topology, end_ns = experiment.topology, experiment.scenario.duration_ns
    links: dict[tuple[str, ...], Followed] = {}
    for files, seed in {link_files(seed, topology): seed for seed in seeds}.items():
        with gather(complaints):
            links[files] = follow(catalogue.root, topology, seed, end_ns)
    if complaints:
        raise Complaints(complaints)
    for workload in experiment.workloads.values():
        replays: dict[tuple[int | None, tuple[str, ...]], Replay] = {}
        for key in dict.fromkeys((trace_number(seed, workload), link_files(seed, topology)) for seed in seeds):
            with gather(complaints):
                replays[key] = _replay(catalogue, experiment, workload, key[0], links[key[1]])
        if complaints:
            continue
        for seed in seeds:
            replay = replays[trace_number(seed, workload), link_files(seed, topology)]
            trials += [
                Trial(
                    scenario=experiment.scenario,
                    topology=experiment.topology,
                    pinned=experiment.pinned,
                    workload=workload,
                    variant=variant,
                    seed=seed,
                    replay=replay,
                    backend=request.backend,
                    settings=request.settings,
                )
                for variant in experiment.variants.values()
            ]
    if complaints:
        raise Complaints(complaints)
    return trials


def trace_number(seed: int, workload: Workload) -> int | None:
    """The trace that a seed replays, from 1; None where there are no traces."""
    return (seed - 1) % workload.traces.count + 1 if workload.traces else None


def link_files(seed: int, topology: Topology) -> tuple[str, ...]:
    """The files that the topology's links follow with a seed."""
    return tuple(trace.name(seed) for path in topology.paths.values() for trace in path.traces().values())


def _replay(
    catalogue: Catalogue, experiment: Experiment, workload: Workload, number: int | None, links: Followed
) -> Replay:
    interrupt.check()
    scenario, topology = experiment.scenario, experiment.topology
    shapes = plan_shapes(topology, links.courses)
    if number is None:
        name = f"traffic/{workload.name}.yaml"
        events = plan_events(scenario, topology, (), name, links.courses)
        return Replay(None, None, (), shapes, tuple(events), links.sha256)
    path = trace_path(catalogue, workload.name, number)
    name = path.relative_to(catalogue.root).as_posix()
    complaints: list[Complaint] = []
    with gather(complaints):
        bursts = read_csv(path, workload.traces.duration_ns / 1e9).bursts
        events = plan_events(scenario, topology, bursts, name, links.courses)
        end_ms = scenario.duration_ns / 1e6
        return Replay(
            number=number,
            sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
            bursts=tuple(burst for burst in bursts if burst.start_ms < end_ms),
            shapes=shapes,
            events=tuple(events),
            link_traces=links.sha256,
        )
    raise Complaints(replace(complaint, where=complaint.where.replace(str(path), name)) for complaint in complaints)


def _number_complaints(request: Request) -> Iterator[Complaint]:
    if not 1 <= request.seed <= LARGEST_SEED:
        yield Complaint("seed", f"{request.seed} is out of range", f"1 to {LARGEST_SEED}")
    if request.runs is not None and not 1 <= request.runs <= MOST_RUNS:
        yield Complaint("runs", f"{request.runs} is out of range", f"1 to {MOST_RUNS}")
    yield from backend_complaint(request.backend)


def backend_complaint(name: str) -> Iterator[Complaint]:
    if name not in TIME_MODES:
        yield Complaint("backend", f"unknown backend {name!r}", ", ".join(TIME_MODES))
