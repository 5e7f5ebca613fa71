# SPDX-License-Identifier: Apache-2.0
"""Read and check all the data files of an experiment, and report the complaints of all of them at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from pathwarp.base.complaints import Complaint, Complaints, gather
from pathwarp.base.yamlfile import YamlFile, read
from pathwarp.model.catalogue import MOBILITY, SCENARIO, TOPOLOGY, VARIANT, WORKLOAD, Catalogue, FileKind, suggest
from pathwarp.model.flowrules import load_names
from pathwarp.model.graphrules import graph_complaints, is_graph
from pathwarp.model.links.files import missing
from pathwarp.model.overrides import OPTION, TOPOLOGY_FILE, WORKLOAD_FILE, Override, apply
from pathwarp.model.rules import scenario_complaints
from pathwarp.model.schema.common import PinnedSysctls
from pathwarp.model.schema.explain import read_model
from pathwarp.model.schema.graph import AnyTopology, Graph
from pathwarp.model.schema.mobility import Mobility
from pathwarp.model.schema.scenario import Scenario
from pathwarp.model.schema.topology import Topology
from pathwarp.model.schema.variant import ResolvedVariant, Variant, resolve
from pathwarp.model.schema.workload import LOAD_KINDS, OWN_KINDS, WORKLOAD_KINDS, Workload

ALL = "all"
PINNED = "vms/sysctls.yaml"

# What a workload's traces are drawn from, once.
MADE_FROM = tuple(f"{WORKLOAD_FILE}.{key}." for key in ("gap", "size", "traces.seed"))
MADE_HINT = "write a workload of its own, and generate its traces"

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Experiment:
    """A scenario with all it takes; variants and workloads are those asked for, in that order, by name.

    `pinned` are the sysctls of every guest, `vms/sysctls.yaml`; `file` is the scenario's, which knows its lines.
    """

    scenario: Scenario
    topology: AnyTopology
    pinned: dict[str, str]
    variants: dict[str, ResolvedVariant]
    workloads: dict[str, Workload]
    load: dict[str, Workload]
    file: YamlFile


def load_experiment(
    catalogue: Catalogue,
    scenario: str,
    variants: tuple[str, ...] = (),
    traffic: tuple[str, ...] = (),
    overrides: tuple[Override, ...] = (),
    with_baseline: bool = False,
) -> Experiment:
    """Load a scenario; no variants or traffic means the scenario's own, `all` every one there is.

    Traffic `all` is the scenario's whole list. `with_baseline` puts the scenario's baseline first, asked for or not.
    Raises Complaints with all that is wrong in any of the files.
    """
    complaints: list[Complaint] = []
    file = topology_file = model = topology = pinned = None
    with gather(complaints):
        pinned = read_model(PinnedSysctls, read(catalogue.root / PINNED, catalogue.root)).root
    with gather(complaints):
        file = _read(catalogue, SCENARIO, scenario, SCENARIO.option)
        apply(overrides, file)
    data = file.data if file else {}
    if catalogue.complaint(TOPOLOGY, data.get("topology"), "") is None:
        with gather(complaints):
            topology_file = _read(catalogue, TOPOLOGY, data["topology"], "", complaints)
            with gather(complaints):
                apply(overrides, topology_file, TOPOLOGY_FILE)
            topology = _topology(catalogue, topology_file, data["topology"])
    if file:
        with gather(complaints):
            model = _model(file, Scenario, scenario)
        complaints += scenario_complaints(file, topology_file, catalogue)
    wanted_variants = _wanted(variants, catalogue.names(VARIANT), [data.get("variants")])
    if with_baseline and isinstance(data.get("baseline"), str):
        wanted_variants = list(dict.fromkeys([data["baseline"], *wanted_variants]))
    wanted_traffic = _wanted(traffic, data.get("traffic"), [data.get("default-traffic"), data.get("traffic")])
    loaded_variants, loaded_workloads = {}, {}
    for name in _known(catalogue, VARIANT, wanted_variants, variants, complaints):
        with gather(complaints):
            loaded_variants[name] = load_variant(catalogue, name)
    for name in _known(catalogue, WORKLOAD, wanted_traffic, traffic, complaints):
        with gather(complaints):
            loaded_workloads[name] = load_workload(catalogue, name, overrides)
            complaints += _trace_complaints(catalogue, loaded_workloads[name])
    load: dict[str, Workload] = {}
    for name in load_names(data):
        if catalogue.complaint(WORKLOAD, name, "") is None:
            with gather(complaints):
                load[name] = load_workload(catalogue, name)
    for name, kinds, found in (
        *((name, OWN_KINDS, loaded_workloads) for name in loaded_workloads),
        *((name, LOAD_KINDS, load) for name in load),
    ):
        if found[name].kind not in kinds:
            what = f"is {found[name].kind}, which is {'for load only' if kinds == OWN_KINDS else 'no load'}"
            complaints.append(Complaint(f"traffic/{name}.yaml: kind", what, ", ".join(kinds)))
    if file and model:
        complaints += _sysctl_complaints(file, model, loaded_variants)
    if complaints or file is None or model is None or topology is None:
        raise Complaints(complaints)
    return Experiment(model, topology, pinned, loaded_variants, loaded_workloads, load, file)


def load_topology(catalogue: Catalogue, name: str, overrides: tuple[Override, ...] = ()) -> AnyTopology:
    """The topology of this name; Complaints when there is none, or for all that is wrong with its file."""
    complaints: list[Complaint] = []
    file = _read(catalogue, TOPOLOGY, name, "name", complaints)
    with gather(complaints):
        apply(overrides, file, TOPOLOGY_FILE)
    topology = None
    with gather(complaints):
        topology = _topology(catalogue, file, name)
    if complaints or topology is None:
        raise Complaints(complaints)
    return topology


def _topology(catalogue: Catalogue, file: YamlFile, name: str) -> AnyTopology:
    """Check a topology, of whichever form its file is; Complaints for all that is wrong with it."""
    complaints = list(graph_complaints(file)) if is_graph(file.data) else []
    topology: AnyTopology | None = None
    with gather(complaints):
        topology = _model(file, Graph, name) if is_graph(file.data) else _model(file, Topology, name)
        complaints += missing(catalogue.root, topology)
    if complaints or topology is None:
        raise Complaints(complaints)
    return topology


def load_workload(catalogue: Catalogue, name: str, overrides: tuple[Override, ...] = ()) -> Workload:
    """The workload of this name; Complaints when there is none, or for all that is wrong with its file."""
    file = _read(catalogue, WORKLOAD, name, WORKLOAD.option)
    apply(overrides, file, WORKLOAD_FILE)
    complaints = [
        Complaint(f"{OPTION}={override}"[:120], "would change nothing: the traces are there already", "", MADE_HINT)
        for override in overrides
        if f"{override.path}.".startswith(MADE_FROM)
    ]
    if complaints:
        raise Complaints(complaints)
    kind = file.data.get("kind")
    if not isinstance(kind, str) or kind not in WORKLOAD_KINDS:
        what = "is missing" if "kind" not in file.data else f"{str(kind)[:60]!r} is unknown"
        raise Complaints.one(
            file.where(("kind",)), what, ", ".join(WORKLOAD_KINDS), suggest(kind, tuple(WORKLOAD_KINDS))
        )
    return _model(file, WORKLOAD_KINDS[kind], name)


def load_mobility(catalogue: Catalogue, name: str) -> Mobility:
    """The mobility model of this name; Complaints when there is none, or for all that is wrong with its file."""
    return _model(_read(catalogue, MOBILITY, name, MOBILITY.option), Mobility, name)


def load_variants(catalogue: Catalogue, names: tuple[str, ...]) -> list[ResolvedVariant]:
    """The variants of these names, `all` for every one there is; Complaints for all that is wrong with any of them."""
    complaints: list[Complaint] = []
    variants = []
    for name in _wanted(names, catalogue.names(VARIANT), []):
        with gather(complaints):
            variants.append(load_variant(catalogue, name))
    if complaints:
        raise Complaints(complaints)
    return variants


def load_variant(catalogue: Catalogue, name: str) -> ResolvedVariant:
    """The variant of this name with all that it extends; Complaints for all that is wrong with these."""
    complaints: list[Complaint] = []
    chain: dict[str, Variant | None] = {}
    where = VARIANT.option
    while True:
        with gather(complaints):
            file = None
            file = _read(catalogue, VARIANT, name, where)
            chain[name] = None
            chain[name] = _model(file, Variant, name)
        # Also when this one is faulty: what it extends may be, too.
        extends = file.data.get("extends") if file else None
        if not isinstance(extends, str):
            break
        name = extends
        where = file.where(("extends",)) if file else where
        if name in chain:
            circle = " extends ".join([*list(chain)[list(chain).index(name) :], name])
            complaints.append(
                Complaint(where, f"goes round in a circle: {circle}", hint="let one of them extend nothing")
            )
            break
    if complaints:
        raise Complaints(complaints)
    return resolve([variant for variant in reversed(chain.values()) if variant])


def trace_path(catalogue: Catalogue, workload: str, number: int) -> Path:
    """The file of a workload's trace, numbered from 1."""
    return catalogue.root / "traffic" / "traces" / workload / f"{number:02d}.csv"


def _trace_complaints(catalogue: Catalogue, workload: Workload) -> Iterator[Complaint]:
    if not workload.traces:
        return
    paths = [trace_path(catalogue, workload.name, number) for number in range(1, workload.traces.count + 1)]
    missing = [path.name for path in paths if not path.is_file()]
    if missing:
        where = paths[0].parent.relative_to(catalogue.root).as_posix()
        shown = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
        what = f"{len(missing)} of the {len(paths)} traces are missing: {shown}"
        yield Complaint(where, what, hint=f"bin/pathwarp traffic generate {workload.name} writes them")


def _read(
    catalogue: Catalogue, kind: FileKind, name: str, where: str, complaints: list[Complaint] | None = None
) -> YamlFile:
    """Read a file; what YAML allows and this project doesn't goes to `complaints`, where there are any to go to."""
    complaint = catalogue.complaint(kind, name, where)
    if complaint:
        raise Complaints([complaint])
    return read(catalogue.file(kind, name), catalogue.root, complaints)


def _model(file: YamlFile, model: type[Model], name: str) -> Model:
    """Check a file against its model, and that it is called as its file or folder is."""
    complaints: list[Complaint] = []
    checked = None
    with gather(complaints):
        checked = read_model(model, file)
    named = file.data.get("name", name)
    if named != name:
        complaints.append(Complaint(file.where(("name",)), f"{named!r} is not the name of the file or folder", name))
    if complaints:
        raise Complaints(complaints)
    return checked


def _wanted(asked: tuple[str, ...], every: object, defaults: list[object]) -> list[str]:
    """The names asked for, each once, with `all` replaced; those of the first default that is a list if none are."""
    every = every if isinstance(every, list) else []
    names = [name for one in asked for name in (every if one == ALL else [one])]
    if not asked:
        names = next((default for default in defaults if isinstance(default, list)), [])
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))


def _known(
    catalogue: Catalogue, kind: FileKind, names: list[str], asked: tuple[str, ...], complaints: list[Complaint]
) -> Iterator[str]:
    """Those names that have a file; a complaint for each other one that was asked for (checks have the scenario's)."""
    for name in names:
        complaint = catalogue.complaint(kind, name, kind.option)
        if complaint is None:
            yield name
        elif name in asked:
            complaints.append(complaint)


def _sysctl_complaints(file: YamlFile, scenario: Scenario, variants: dict[str, ResolvedVariant]) -> Iterator[Complaint]:
    """A scenario may not change what makes a variant what it is."""
    for name, value in scenario.sysctls.items():
        where = file.where(("sysctls", name))
        for variant in variants.values():
            theirs = variant.sysctls.get(name, value)
            if theirs != value:
                yield Complaint(where, f"is {value}, but the variant {variant.name} sets it to {theirs}", theirs)
