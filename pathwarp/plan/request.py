# SPDX-License-Identifier: Apache-2.0
"""From what the user asks for to trials: which scenarios, variants, traffic and seeds, with all inputs resolved."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pathwarp.base import interrupt
from pathwarp.base.complaints import Complaint, Complaints, gather
from pathwarp.model.backends.registry import BACKENDS, DEFAULT_BACKEND, backend_complaint
from pathwarp.model.catalogue import Catalogue
from pathwarp.model.kerneltree import OPTION as KERNEL
from pathwarp.model.kerneltree import KernelTree
from pathwarp.model.links.files import Followed, follow
from pathwarp.model.load import Experiment, load_experiment, trace_path
from pathwarp.model.overrides import Override
from pathwarp.model.points import Point, points_of
from pathwarp.model.schema.graph import AnyTopology
from pathwarp.model.schema.workload import Workload
from pathwarp.model.traces import Burst, read_csv
from pathwarp.plan.events import Action, plan_events
from pathwarp.plan.flows import check_datagrams
from pathwarp.plan.joins import check_reach
from pathwarp.plan.losses import Counted, Target, plan_losses
from pathwarp.plan.shapes import plan_shapes
from pathwarp.plan.trial import Replay, Trial

MOST_RUNS = 10_000
LARGEST_SEED = 1_000_000_000


@dataclass(frozen=True)
class Request:
    """What the user asked for. Empty variants and traffic, and no runs, mean the scenario's defaults.

    `at` are axes and values of the scenario's grid, `many` lets it have any number of points.
    """

    root: Path
    scenario: str
    variants: tuple[str, ...] = ()
    traffic: tuple[str, ...] = ()
    seed: int = 1
    runs: int | None = None
    backend: str = DEFAULT_BACKEND
    overrides: tuple[Override, ...] = ()
    with_baseline: bool = False
    at: tuple[tuple[str, str], ...] = ()
    many: bool = False
    source: KernelTree | None = None


def plan_trials(request: Request) -> list[Trial]:
    """All trials of a request, in the order in which they are run; Complaints for all that is wrong with the input.

    Seed n replays trace (n - 1) mod count + 1, of workloads and of links. The variants of one traffic and seed come one
    after the other, so that what an interrupted call leaves behind can be compared in pairs.
    """
    catalogue = Catalogue(request.root)
    complaints = list(_number_complaints(request))
    points, grid = list[Point](), ""
    with gather(complaints):
        whole = _load(catalogue, request, request.overrides)
        grid = whole.file.where(("grid",))
        points = points_of(whole.scenario.grid, request.at, request.overrides, request.many, grid)
    if complaints:
        raise Complaints(complaints)
    faults: dict[Complaint, Point] = {}
    trials: list[Trial] = []
    for point in points:
        interrupt.check()
        with _at(point, faults):
            overrides = tuple(sorted((*request.overrides, *point.overrides)))
            experiment = _load(catalogue, request, overrides) if point.values else whole
            trials += _plan_point(catalogue, request, point, experiment)
    _raise(faults, grid)
    return trials


@contextmanager
def _at(point: Point, faults: dict[Complaint, Point]) -> Iterator[None]:
    """Note what is wrong at a point of the grid; what is wrong at several is noted for the first."""
    found: list[Complaint] = []
    with gather(found):
        yield
    for complaint in found:
        faults.setdefault(complaint, point)


def _raise(faults: dict[Complaint, Point], grid: str) -> None:
    """Raise Complaints for what was noted, each with its point; `grid` is where that is."""
    if faults:
        raise Complaints(
            replace(complaint, where=f"{grid} at {point}: {complaint.where}") if point.values else complaint
            for complaint, point in faults.items()
        )


def _load(catalogue: Catalogue, request: Request, overrides: tuple[Override, ...]) -> Experiment:
    return load_experiment(
        catalogue, request.scenario, request.variants, request.traffic, overrides, request.with_baseline
    )


def _plan_point(catalogue: Catalogue, request: Request, point: Point, experiment: Experiment) -> list[Trial]:
    """The trials at a point of the grid, of which a scenario without one has one."""
    complaints: list[Complaint] = []
    runs = request.runs or experiment.scenario.runs
    seeds = range(request.seed, request.seed + runs)
    trials: list[Trial] = []
    topology, end_ns = experiment.topology, experiment.scenario.duration_ns
    with gather(complaints):
        for transport in dict.fromkeys(variant.transport for variant in experiment.variants.values()):
            check_reach(topology, experiment.scenario, transport)
    with gather(complaints):
        check_datagrams(topology, experiment.scenario, experiment.load, experiment.file.where)
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
                    load=experiment.load,
                    variant=variant,
                    seed=seed,
                    replay=replay,
                    backend=request.backend,
                    overrides=request.overrides,
                    point=point,
                    source=request.source,
                )
                for variant in experiment.variants.values()
            ]
    if complaints:
        raise Complaints(complaints)
    return trials


def trace_number(seed: int, workload: Workload) -> int | None:
    """The trace that a seed replays, from 1; None where there are no traces."""
    return (seed - 1) % workload.traces.count + 1 if workload.traces else None


def link_files(seed: int, topology: AnyTopology) -> tuple[str, ...]:
    """The files that the topology's links follow with a seed."""
    return tuple(trace.name(seed) for link in topology.wires().values() for trace in link.traces().values())


def _replay(
    catalogue: Catalogue, experiment: Experiment, workload: Workload, number: int | None, links: Followed
) -> Replay:
    interrupt.check()
    scenario = experiment.scenario
    shapes = plan_shapes(experiment.topology, links.courses)
    if number is None or workload.traces is None:
        happens = _happenings(experiment, workload, (), f"traffic/{workload.name}.yaml", links)
        return Replay(None, None, (), shapes, *happens, links.sha256)
    path = trace_path(catalogue, workload.name, number)
    name = path.relative_to(catalogue.root).as_posix()
    complaints: list[Complaint] = []
    with gather(complaints):
        bursts = read_csv(path, workload.traces.duration_ns / 1e9).bursts
        happens = _happenings(experiment, workload, bursts, name, links)
        end_ms = scenario.duration_ns / 1e6
        played = tuple(burst for burst in bursts if burst.start_ms < end_ms)
        return Replay(number, hashlib.sha256(path.read_bytes()).hexdigest(), played, shapes, *happens, links.sha256)
    raise Complaints(replace(complaint, where=complaint.where.replace(str(path), name)) for complaint in complaints)


def _happenings(
    experiment: Experiment, workload: Workload, bursts: tuple[Burst, ...], trace: str, links: Followed
) -> tuple[tuple[Action, ...], tuple[Target | Counted, ...] | None]:
    """What happens to paths and to single packets; Complaints for what is wrong with either."""
    complaints: list[Complaint] = []
    events, losses = [], None
    with gather(complaints):
        events = plan_events(experiment.scenario, experiment.topology, bursts, trace, links.courses)
    with gather(complaints):
        losses = plan_losses(experiment.scenario, workload, bursts, trace, experiment.file.where)
    if complaints:
        raise Complaints(complaints)
    return tuple(events), losses


def _number_complaints(request: Request) -> Iterator[Complaint]:
    if not 1 <= request.seed <= LARGEST_SEED:
        yield Complaint("seed", f"{request.seed} is out of range", f"1 to {LARGEST_SEED}")
    if request.runs is not None and not 1 <= request.runs <= MOST_RUNS:
        yield Complaint("runs", f"{request.runs} is out of range", f"1 to {MOST_RUNS}")
    yield from backend_complaint(request.backend)
    if request.source and request.backend in BACKENDS and BACKENDS[request.backend].has_box:
        yield Complaint(
            KERNEL, "is for User Mode Linux alone: a virtual machine's kernel is that of the packaged source"
        )
