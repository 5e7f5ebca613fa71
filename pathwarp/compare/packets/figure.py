# SPDX-License-Identifier: Apache-2.0
"""The timing diagrams of two trials around their first difference, one above the other."""

from collections.abc import Sequence
from pathlib import Path

from pathwarp.compare.packets.divergence import Divergence
from pathwarp.compare.packets.side import Side
from pathwarp.measure.bursts import completion_ms
from pathwarp.measure.inputs import read_json
from pathwarp.measure.recovery import Recovery, around_burst, around_instant, first_packet
from pathwarp.model.backends.registry import DEFAULT_BACKEND
from pathwarp.model.overrides import label
from pathwarp.model.points import Point
from pathwarp.present import timing
from pathwarp.results.sealed import MANIFEST


def draw_diff(sides: Sequence[Side], divergence: Divergence, out: Path | None, results: Path) -> list[Path]:
    """Draw the burst that each trial was sending at the first difference, or had sent last, as SVG and PNG.

    Without `out` they go to the figures of the first trial's scenario below `results`. Returns the files.
    """
    plan = sides[0].analysis.inputs.plan
    if out is None:
        out = results / _scenario_folder(sides[0], results) / "figures"
    recoveries = [_around(side, divergence.at_ns) for side in sides]
    names = [side.name for side in sides]
    seeds = " and ".join(dict.fromkeys(str(side.analysis.inputs.plan["seed"]) for side in sides))
    title = f"{plan['traffic'].capitalize()} traffic, seed {seeds}: where {names[0]} and {names[1]} part"
    subtitle = f"{divergence.at_ns / 1e9:.6f} s from the flow's start, from the captures of both trials"
    name = f"diff-{plan['traffic']}-{plan['seed']:03d}-{'-'.join(names)}"
    return timing.draw(recoveries, title, subtitle, out, name, stacked=True)


def _scenario_folder(side: Side, results: Path) -> str:
    """The name of the folder below `results` that a trial belongs to, or would if it were there.

    A run folder in the results says it by its place, also one that was moved aside; any other by its manifest. One
    without, such as a failed trial's, is taken for one of the default backend.
    """
    place, home = side.folder.resolve(), results.resolve()
    if place.is_relative_to(home):
        steps = [step for step in place.relative_to(home).parts if not step.startswith(".")]
        if len(steps) == len(("scenario", "variant", "traffic", "seed")):
            return steps[0]
    plan, manifest = side.analysis.inputs.plan, side.folder / MANIFEST
    backend = read_json(manifest).get("backend", DEFAULT_BACKEND) if manifest.exists() else DEFAULT_BACKEND
    point = Point(tuple((axis, name) for axis, name in plan.get("point", ())))
    return label(plan["scenario"], plan["settings"], backend, point.label)


def _around(side: Side, since_ns: int) -> Recovery:
    """The diagram of the burst that was on its way `since_ns` after the start of the flow, if there are bursts."""
    analysis = side.analysis
    mark_ns = analysis.inputs.flow_start_ns + since_ns
    if not len(analysis.bursts):
        return around_instant(analysis, side.name, side.counters, mark_ns)
    sent_ns = [int(analysis.packets.time_ns[first_packet(analysis, burst)]) for burst in range(len(analysis.bursts))]
    burst = max((number for number, start_ns in enumerate(sent_ns) if start_ns <= mark_ns), default=0)
    completed = completion_ms(analysis.bursts, analysis.messages)[burst]
    return around_burst(analysis, side.name, burst, completed, side.counters, mark_ns)
