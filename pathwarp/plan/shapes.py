# SPDX-License-Identifier: Apache-2.0
"""The shape of a link at an instant: what its topology, its trace and the changes of the scenario make of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from pathwarp.model.links.course import Course
from pathwarp.model.links.files import Courses
from pathwarp.model.schema.graph import AnyLink, AnyTopology
from pathwarp.model.schema.scenario import Event
from pathwarp.model.schema.topology import DIRECTIONS, Shape

# netem and HTB count them, too.
ETHERNET_BYTES = 14

Shapes = dict[str, dict[str, object]]

# The course of a direction that follows no trace.
_STILL = Course(())


@dataclass(frozen=True)
class Span:
    """One repetition of an event, its instants as they are for one trace, in ns from the start of the flow.

    Without `until_ns` it has no end. `link` and `path` are those of the event's target.
    """

    where: str
    event: Event
    link: str
    path: str | None
    at_ns: int
    until_ns: int | None

    def covers(self, instant_ns: int) -> bool:
        return self.at_ns <= instant_ns and (self.until_ns is None or instant_ns < self.until_ns)


def of_link(courses: Courses, name: str) -> dict[str, Course]:
    """Direction to its course on a link."""
    return {direction: courses.get((name, direction), _STILL) for direction in DIRECTIONS}


def shapes_at(instant_ns: int, spans: list[Span], link: AnyLink, course: Mapping[str, Course]) -> Shapes:
    """A link's directions from `instant_ns` on: the topology's, the trace's, all changes in force, latest on top.

    Where there is a trace, the shape `adapts`: what waits leaves at the rate that holds then, not at the one that held
    when it came. Where the trace holds packets and no change names a rate, each packet costs as much as the longest, at
    a rate that takes as long for it as the trace says.
    """
    shapes = {}
    for direction in DIRECTIONS:
        own: Shape | None = getattr(link, direction)
        if own is None:
            continue
        step = course[direction].at(instant_ns)
        shape = step.apply(own)
        hold_ns = step.hold_ns
        for span in sorted(spans, key=lambda span: span.at_ns):
            if span.event.change and span.event.direction in (direction, "both") and span.covers(instant_ns):
                shape = span.event.change.apply(shape)
                hold_ns = None if span.event.change.rate_bit_s else hold_ns
        extra: dict[str, object] = {"adapts": True} if course[direction] is not _STILL else {}
        if hold_ns:
            cost_as_bytes = link.mtu_bytes + ETHERNET_BYTES
            extra["cost_as_bytes"] = cost_as_bytes
            rate_bit_s = cost_as_bytes * 8 * 1_000_000_000 // hold_ns
            shape = shape.model_copy(update={"rate_bit_s": rate_bit_s})
        shapes[direction] = {**shape.netem(link.mtu_bytes), **extra}
    return shapes


def plan_shapes(topology: AnyTopology, courses: Courses) -> dict[str, Shapes]:
    """Link to the shapes that it is set up with: those from the start of the flow on, but for the scenario's events."""
    return {name: shapes_at(0, [], link, of_link(courses, name)) for name, link in topology.wires().items()}
