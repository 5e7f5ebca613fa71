# SPDX-License-Identifier: Apache-2.0
"""Trials of the variants' kernels, run once for all packet tests."""

import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest
from timers import Estimate

from pathwarp.measure.analysis import Analysis, analyse
from pathwarp.model.overrides import Override
from pathwarp.plan.request import Request, plan_trials
from pathwarp.plan.trial import Trial
from pathwarp.run.guests.uml import UmlSettings
from pathwarp.run.queue import run_trials

ROOT = Path(__file__).resolve().parents[2]
VARIANTS = ("tcp", "mainline", "rto", "tlp-std", "tlp-mp", "pto", "rej-k1", "rej-k2", "rej-k4")
TOPOLOGIES = ("near", "middle", "far")
TRAFFIC = ("single", "three", "follow", "stream")

# The last packet of the burst at 4 s: the packet alone, and what is sent of it on WLAN after that.
FIRST = "[{burst: 4, position: last, path: wlan}]"
FIRST_TWO = "[{burst: 4, position: last, path: wlan, copies: [1, 2]}]"
ALL = "[{burst: 4, position: last, path: wlan, copies: all}]"
HALF = "[{burst: 4, position: 50 %}]"
ACKS = "[{burst: 4, position: last, what: ack, copies: [1, 2]}]"
LAST_TWO = "[{burst: 4, position: last, path: wlan}, {burst: 4, position: -2, path: wlan}]"
LAST_TWO_AND_PROBE = LAST_TWO.replace("}", ", copies: [1, 2]}", 1)
PREDICTED = ("mainline", "rto", "tlp-std", "tlp-mp", "pto", "rej-k1")
ON_LINK = "[{of: link, path: wlan, position: 37}, {of: link, path: wlan, what: ack, position: 11}]"
NONE, LATE = "[]", "[{burst: 7, position: last}]"
# Topology, losses, variants, traffic.
CHOSEN = (
    *(
        (topology, losses, ("tcp", "tlp-std"), ("train",))
        for topology in TOPOLOGIES
        for losses in (FIRST, FIRST_TWO, HALF, ACKS, ON_LINK)
    ),
    *((topology, ALL, ("tlp-std",), ("train",)) for topology in TOPOLOGIES),
    *((topology, losses, ("tlp-std",), ("train",)) for topology in TOPOLOGIES for losses in (NONE, LATE)),
    *((topology, FIRST, ("tlp-mp", "pto", "rto", "rej-k1"), ("single",)) for topology in TOPOLOGIES),
    *(
        (topology, losses, PREDICTED, ("train",))
        for topology in TOPOLOGIES
        for losses in (LAST_TWO, LAST_TWO_AND_PROBE)
    ),
)


@dataclass(frozen=True)
class Sent:
    """A data packet: when, on which path, which byte of the stream first, how many."""

    time_ns: int
    path: str
    offset: int
    length: int
    arrival_ns: int


@dataclass(frozen=True)
class Observation:
    """A sealed trial's packets."""

    folder: Path

    @cached_property
    def analysis(self) -> Analysis:
        return analyse(self.folder)

    @cached_property
    def guest(self) -> dict:
        return json.loads((self.folder / "logs" / "guest.json").read_text())

    @cached_property
    def metrics(self) -> dict:
        return json.loads((self.folder / "metrics.json").read_text())

    @property
    def counters(self) -> dict:
        return self.metrics["counters"]["server"]

    @property
    def boot_ns(self) -> int:
        return UmlSettings.of(ROOT).start_ns

    def estimate(self, path: str) -> Estimate:
        return Estimate.read(next(c for c in self.guest["connections"] if c["path"] == path))

    @cached_property
    def sent(self) -> list[Sent]:
        """From the failure on, in the order sent."""
        return [packet for packet in self.sent_in_all if packet.time_ns > self.guest["events"][0]["at_ns"]]

    @cached_property
    def sent_in_all(self) -> list[Sent]:
        packets = self.analysis.packets
        paths = self.analysis.inputs.paths
        columns = (packets.time_ns, packets.path, packets.offset, packets.length, packets.arrival_ns)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [Sent(time_ns, paths[path], *rest) for time_ns, path, *rest in rows]

    def on(self, path: str, first: Sent) -> list[Sent]:
        """The packets on a path, sent after the affected burst's first one, that carry any of that burst."""
        end = first.offset + sum(p.length for p in self.sent if p.path == "wlan" and p.time_ns - first.time_ns < 1e6)
        return [p for p in self.sent if p.path == path and first.offset <= p.offset < end and p is not first]


def run(root: Path, trials: dict[tuple, Trial]) -> dict[tuple, Observation]:
    """Run trials; what was observed, by the keys of the trials."""
    assert run_trials(root, list(trials.values()), jobs=len(os.sched_getaffinity(0))) == 0
    return {key: Observation(root / trial.folder) for key, trial in trials.items()}


@pytest.fixture(scope="session")
def observe(tmp_path_factory, make_project):
    """(variant, topology, traffic) -> Observation; all trials are run before the first answer."""
    root = make_project(tmp_path_factory.mktemp("project"))
    trials = {
        (trial.variant.name, topology, trial.workload.name): trial
        for topology in TOPOLOGIES
        for trial in plan_trials(
            Request(root, "silent", VARIANTS, TRAFFIC, overrides=(Override("topology", topology),))
        )
    }
    observations = run(root, trials)
    return lambda *key: observations[key]


@pytest.fixture(scope="session")
def lose(tmp_path_factory, make_project):
    """(variant, topology, traffic) -> Observation of a trial that loses a packet; "late" is without RACK."""
    root = make_project(tmp_path_factory.mktemp("hole"))
    without_rack = Override("sysctls.net.ipv4.tcp_recovery", "0")
    trials = {
        (trial.variant.name, topology, traffic): trial
        for topology in TOPOLOGIES
        for traffic, more in (("hole", ()), ("late", (without_rack,)))
        for trial in plan_trials(
            Request(root, "hole", traffic=(traffic,), overrides=(Override("topology", topology), *more))
        )
    }
    observations = run(root, trials)
    return lambda *key: observations[key]


@pytest.fixture(scope="session")
def calm(tmp_path_factory, make_project):
    """Variant -> Observation of a trial in which nothing happens."""
    root = make_project(tmp_path_factory.mktemp("calm"))
    observations = run(root, {trial.variant.name: trial for trial in plan_trials(Request(root, "calm"))})
    return lambda key: observations[key]


@pytest.fixture(scope="session")
def chosen(tmp_path_factory, make_project):
    """(variant, topology, traffic, losses) -> Observation of a trial that loses chosen packets, all run at once."""
    root = make_project(tmp_path_factory.mktemp("chosen"))
    trials = {
        (trial.variant.name, topology, trial.workload.name, losses): trial
        for topology, losses, variants, traffic in CHOSEN
        for trial in plan_trials(
            Request(
                root,
                "exact",
                variants,
                traffic,
                overrides=tuple(sorted((Override("losses", losses), Override("topology", topology)))),
            )
        )
    }
    observations = run(root, trials)
    return lambda *key: observations[key]
