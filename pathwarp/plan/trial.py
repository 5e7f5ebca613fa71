# SPDX-License-Identifier: Apache-2.0
"""Trials: one scenario, variant, traffic and seed each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pathwarp.model.backends.backend import VIRTUAL_MODE
from pathwarp.model.backends.registry import BACKENDS
from pathwarp.model.command import make_command
from pathwarp.model.kerneltree import KernelTree, kernel_name
from pathwarp.model.overrides import Override, label
from pathwarp.model.points import NO_POINT, Point
from pathwarp.model.schema.graph import AnyTopology
from pathwarp.model.schema.scenario import Scenario
from pathwarp.model.schema.variant import ResolvedVariant
from pathwarp.model.schema.workload import Workload
from pathwarp.model.traces import Burst
from pathwarp.plan.events import Action
from pathwarp.plan.flows import ends_of
from pathwarp.plan.kit import Kit
from pathwarp.plan.losses import Counted, Target
from pathwarp.plan.shapes import Shapes

_KIT = Kit("lab", "init.py")


@dataclass(frozen=True)
class Replay:
    """A trace, numbered from 1, cut to the scenario's duration, and what happens to the network in the meantime.

    `sha256` is the hash of the trace's file. A workload of a constant rate has no traces, so no number, hash and
    bursts. `shapes` (those that paths begin with) and `events` are as `pathwarp.plan.events` describes them,
    `losses` as `pathwarp.plan.losses` does; `link_traces` are the hashes of the files that links follow.
    """

    number: int | None
    sha256: str | None
    bursts: tuple[Burst, ...]
    shapes: Mapping[str, Shapes]
    events: tuple[Action, ...]
    losses: tuple[Target | Counted, ...] | None
    link_traces: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Trial:
    """One run to be done; `overrides` are the user's, those of the `point` come on top."""

    scenario: Scenario
    topology: AnyTopology
    pinned: Mapping[str, str] = field(repr=False)
    workload: Workload
    load: Mapping[str, Workload]
    variant: ResolvedVariant
    seed: int
    replay: Replay = field(repr=False)
    backend: str
    overrides: tuple[Override, ...]
    point: Point = NO_POINT
    source: KernelTree | None = None

    @property
    def kit(self) -> Kit:
        """What its guest is booted with."""
        return _KIT

    @property
    def parameters(self) -> tuple[str, ...]:
        """What its kernel is told beyond what every guest's is: nothing."""
        return ()

    @cached_property
    def folder(self) -> Path:
        """Where the result goes, relative to the project's folder."""
        scenario = label(self.scenario.name, self.overrides, self.backend, self.point.label, kernel_name(self.source))
        return Path("results", scenario, self.variant.name, self.workload.name, f"seed-{self.seed:03d}")

    @property
    def ends(self) -> tuple[str, str]:
        """Sender and receiver of the data."""
        return ends_of(self.topology, self.scenario)

    @property
    def title(self) -> str:
        """Which trial it is, in a line."""
        point = f" at {self.point}" if self.point.values else ""
        return f"{self.scenario.name}{point} {self.variant.name} {self.workload.name} seed {self.seed}"

    @property
    def command(self) -> str:
        """What a user types to run it."""
        names = self.scenario.name, [self.variant.name], [self.workload.name]
        return make_command(*names, self.overrides, self.backend, str(self.point), self.source, seed=self.seed, runs=1)

    @property
    def virtual_s(self) -> float:
        """How long the emulated experiment lasts."""
        return self.scenario.duration_ns / 1e9

    @property
    def time_mode(self) -> str:
        """How time passes in the guest: `inf-cpu`, so that code takes none, or `wall-clock`, as on the host."""
        return BACKENDS[self.backend].paces[self.scenario.time].mode

    @property
    def repeats(self) -> bool:
        """Whether it gives the same bytes each time that it is run."""
        return self.time_mode == VIRTUAL_MODE

    def describe(self) -> dict[str, Any]:
        """What its manifest says of it beside variant, seed, backend and time."""
        return {
            "scenario": self.scenario.model_dump(mode="json"),
            "settings": [str(override) for override in self.overrides],
            **({"point": list(self.point.values)} if self.point.values else {}),
            "topology": self.topology.model_dump(mode="json"),
            "traffic": {
                **self.workload.model_dump(mode="json"),
                "trace": self.replay.number,
                "trace_sha256": self.replay.sha256,
            },
            "link_traces": dict(self.replay.link_traces),
        }

    @cached_property
    def sysctls(self) -> dict[str, str]:
        """What both hosts set: what every guest does, the scenario's on top of it, the variant's on top of both."""
        scheduler = {"net.mptcp.scheduler": self.scenario.scheduler}
        return {**self.pinned, **self.scenario.sysctls, **self.variant.sysctls, **scheduler}
