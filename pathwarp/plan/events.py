# SPDX-License-Identifier: Apache-2.0
"""A scenario's events as the guest carries them out: a flat list of instants and actions.

A failure has an action that begins it and one that ends it. A change of shape comes with the whole shape of the link
from then on, so the guest need not remember any. What a link does that follows a trace are such changes, too; where
several have a say, a failure goes before an event's change, that before the trace, and that before the topology.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from pathwarp.base.complaints import Complaint, Complaints
from pathwarp.model.events.registry import EVENT_KINDS
from pathwarp.model.links.course import Course
from pathwarp.model.links.files import Courses
from pathwarp.model.routes import between
from pathwarp.model.schema.graph import AnyLink, AnyTopology
from pathwarp.model.schema.scenario import MOST_EVENTS, TRACE_END, Event, Scenario
from pathwarp.model.traces import Burst
from pathwarp.plan.flows import ends_of
from pathwarp.plan.shapes import Shapes, Span, of_link, shapes_at
from pathwarp.plan.targets import path_of, target_of

# The kind of what links do that follow a trace.
TRACE = "trace"


@dataclass(frozen=True)
class Action:
    """A phase of an event (`pathwarp.model.events`), by the names of both, `at_ns` after the start of the flow.

    `path` is that of the data that the link is of, None where it is of none or of several. `shapes` are those of the
    link from then on, where the phase gives them.
    """

    at_ns: int
    link: str
    path: str | None
    kind: str
    phase: str
    shapes: Shapes | None = None


def plan_events(
    scenario: Scenario, topology: AnyTopology, bursts: Sequence[Burst], trace: str, courses: Courses
) -> list[Action]:
    """The actions in the order of their instants.

    `bursts` are those of the trace that messages call `trace`, `courses` those of the links. Raises Complaints where an
    event cannot be placed in them, or meets a failure on its path that is not over.
    """
    complaints: list[Complaint] = []
    ends = ends_of(topology, scenario)
    spans: list[Span] = []
    number = sum(event.repeat.times if event.repeat else 1 for event in scenario.events)
    if number > MOST_EVENTS:
        what = f"come to {number} with their repetitions"
        raise Complaints.one(f"scenarios/{scenario.name}.yaml: events", what, f"at most {MOST_EVENTS}")
    for index, event in enumerate(scenario.events):
        where = f"scenarios/{scenario.name}.yaml: events.{index}"
        target = target_of(topology, ends, event, where)
        if isinstance(target, Complaint):
            complaints.append(target)
            continue
        trace_end_ns = _end_ns(of_link(courses, target.link))
        if event.at_ns is None and trace_end_ns is None:
            what = f"at is {TRACE_END}, but the path {event.path} follows no trace that ends"
            complaints.append(Complaint(where, what, "an instant such as 12 ms", "Mahimahi's traces start over"))
            continue
        for at_ns, until_ns in event.repetitions(trace_end_ns):
            begin_ns = None if at_ns is None else _instant(event, at_ns, bursts)
            complaint = _placing_complaint(where, event, begin_ns, until_ns, scenario.duration_ns, trace)
            if complaint:
                complaints.append(complaint)
            if complaint or begin_ns is None:
                break
            spans.append(Span(where, event, target.link, target.path, begin_ns, until_ns))
    complaints += _meetings(spans)
    if complaints:
        raise Complaints(complaints)
    actions = []
    routes = between(topology.routes(), *ends)
    for name, link in topology.wires().items():
        own, course = [span for span in spans if span.link == name], of_link(courses, name)
        actions += [action for span in own for action in _actions(span, own, link, course)]
        actions += _steps(name, path_of(routes, name), own, link, course, scenario.duration_ns)
    # What ends at an instant ends before what begins then.
    actions.sort(key=lambda item: item[:2])
    return [action for _, _, action in actions]


def _placing_complaint(
    where: str, event: Event, begin_ns: int | None, until_ns: int | None, duration_ns: int, trace: str
) -> Complaint | None:
    """What is wrong with the instant at which a repetition of an event begins."""
    end_ns = min(duration_ns, until_ns or duration_ns)
    late = [phase for phase in event.kind.between if (begin_ns or 0) + event.after_ns(phase) >= end_ns]
    if begin_ns is not None and begin_ns < end_ns and not late:
        return None
    valid, hint = f"an instant before {end_ns / 1e9:g} s", "lower at, or leave out into-burst"
    if begin_ns is None:
        return Complaint(where, f"with {trace}, no burst follows", valid, hint)
    if begin_ns >= end_ns and event.into_burst_ns is not None:
        return Complaint(where, f"with {trace}, into-burst leads to {begin_ns / 1e9:.9g} s", valid, hint)
    if begin_ns >= end_ns:
        what = f"its repetition at {begin_ns / 1e9:.9g} s is not before the end of the scenario"
        return Complaint(where, what, valid, "lower repeat.times or repeat.every, or raise duration")
    option, late_ns = late[0].option, begin_ns + event.after_ns(late[0])
    what = f"{option} leads to {late_ns / 1e9:.9g} s, not before the event's end"
    return Complaint(where, what, valid, f"lower {option}, or raise until")


def _instant(event: Event, at_ns: int, bursts: Sequence[Burst]) -> int | None:
    """When an event that is due `at_ns` happens, in ns from the flow's start; None when no burst is left for it."""
    if event.into_burst_ns is None:
        return at_ns
    starts_ns = (round(burst.start_ms * 1_000_000) for burst in bursts)
    return next((start_ns + event.into_burst_ns for start_ns in starts_ns if start_ns >= at_ns), None)


def _meetings(spans: list[Span]) -> Iterator[Complaint]:
    """Complaints for events that begin or end while a failure has their path down: what holds then nobody knows."""
    met = set()
    for first, second in combinations(spans, 2):
        if (_meets(first, second) or _meets(second, first)) and (first.where, second.where) not in met:
            # Repetitions meet again and again.
            met.add((first.where, second.where))
            other = "its own repetition" if first.event is second.event else first.where.split()[-1]
            what = f"meets {other} on the path {first.event.path}, and one of the two has it down"
            yield Complaint(
                second.where, what, hint="let the failure have an `until` before the other, or begin after it"
            )


def _meets(failure: Span, other: Span) -> bool:
    if not failure.event.fail or failure.link != other.link:
        return False
    # An end at the very instant at which the failure begins is in order.
    ends_within = other.until_ns not in (None, failure.at_ns) and failure.covers(other.until_ns)
    return failure.covers(other.at_ns) or ends_within


def _end_ns(course: Mapping[str, Course]) -> int | None:
    """The end of a link's trace; the later one where each direction has its own."""
    return max((one.end_ns for one in course.values() if one.end_ns is not None), default=None)


def _actions(
    span: Span, spans: list[Span], link: AnyLink, course: Mapping[str, Course]
) -> Iterator[tuple[int, bool, Action]]:
    """A span's actions, each with its instant and whether it begins something.

    What comes between beginning and end goes behind the beginning where both are at one instant: the sort is stable.
    """
    kind = span.event.kind
    phases = [(span.at_ns, True, kind.begin), (span.until_ns, False, kind.end)]
    phases += [(span.at_ns + span.event.after_ns(phase), True, phase) for phase in kind.between]
    for instant_ns, begins, phase in phases:
        if instant_ns is not None:
            shapes = shapes_at(instant_ns, spans, link, course) if phase.gives_shape else None
            yield instant_ns, begins, Action(instant_ns, span.link, span.path, kind.name, phase.name, shapes)


def _steps(
    name: str, path: str | None, spans: list[Span], link: AnyLink, course: Mapping[str, Course], duration_ns: int
) -> Iterator[tuple[int, bool, Action]]:
    """The changes of a link's shape that no event makes.

    While a failure has the link down there are none, but when it is up again it gets the shape of that instant.
    """
    edges = {edge for span in spans for edge in (span.at_ns, span.until_ns) if edge is not None}
    shaped = {
        edge
        for span in spans
        for edge, phase in ((span.at_ns, span.event.kind.begin), (span.until_ns, span.event.kind.end))
        if edge is not None and phase.gives_shape
    }
    failures = [span for span in spans if span.event.fail]
    last = shapes_at(0, [], link, course)
    for instant_ns in sorted(edges.union(*(one.instants_ns for one in course.values()))):
        if instant_ns >= duration_ns or any(failure.covers(instant_ns) for failure in failures):
            continue
        shapes = shapes_at(instant_ns, spans, link, course)
        if shapes != last and instant_ns not in shaped:
            yield instant_ns, False, Action(instant_ns, name, path, TRACE, EVENT_KINDS[TRACE].begin.name, shapes)
        last = shapes
