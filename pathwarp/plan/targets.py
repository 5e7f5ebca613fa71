# SPDX-License-Identifier: Apache-2.0
"""What an event of a scenario is about: its `path` names a link, or a path of the data that has one of its own."""

from dataclasses import dataclass

from pathwarp.base.complaints import Complaint
from pathwarp.model.routes import Route, between
from pathwarp.model.schema.graph import AnyTopology
from pathwarp.model.schema.scenario import Event


@dataclass(frozen=True)
class Target:
    """A link, and the path between sender and receiver that it is of, None where it is of none or of several."""

    link: str
    path: str | None


def target_of(topology: AnyTopology, ends: tuple[str, str], event: Event, where: str) -> Target | Complaint:
    """The target of an event at this place in its file, or what is wrong with it; `ends` are those of the data."""
    routes = between(topology.routes(), *ends)
    found = _at_receiver(routes, event, where) if event.kind.at_receiver else _link(topology, routes, event, where)
    if isinstance(found, Complaint):
        return found
    link = topology.wires()[found]
    shaped = [way for way in ("down", "up") if getattr(link, way)]
    wanted = ["down", "up"] if event.direction == "both" else [event.direction]
    lacks_all = event.change and not set(wanted) & set(shaped)
    if lacks_all or (event.fail and not event.kind.at_receiver and len(shaped) < 2):
        lacking = " and ".join(way for way in wanted if way not in shaped)
        return Complaint(where, f"the link {found} has no shape {lacking}", "", "give it rate, delay and queue there")
    paths = [route.path for route in routes if found in route.links]
    if event.fail and len(paths) > 1:
        what = f"the link {found} is of the paths {', '.join(paths)}, and a failure is of one"
        return Complaint(where, what, ", ".join(_own(routes)) or "none: the paths have no links of their own")
    return Target(found, path_of(routes, found))


def path_of(routes: list[Route], link: str) -> str | None:
    """The path that a link is of, None where it is of none or of several."""
    paths = [route.path for route in routes if link in route.links]
    return paths[0] if len(paths) == 1 else None


def _at_receiver(routes: list[Route], event: Event, where: str) -> str | Complaint:
    """The receiver's link on a path, which no other path may have."""
    last = {route.path: route.links[-1] for route in routes}
    found = last.get(event.path) or next((link for link in last.values() if link == event.path), None)
    if found is None:
        what = f"'{event.path}' is no path between sender and receiver, and none of the receiver's links"
        return Complaint(where, what, ", ".join(last))
    return found


def _link(topology: AnyTopology, routes: list[Route], event: Event, where: str) -> str | Complaint:
    if event.path in topology.wires():
        return event.path
    route = next((route for route in topology.routes() if route.path == event.path), None)
    own = _own(routes, event.path)
    if len(own) == 1 and getattr(topology.wires()[own[0]], "down", None):
        return own[0]
    links = route.links if route else tuple(topology.wires())
    return Complaint(where, f"path is {event.path}: which link of it?", ", ".join(links), "name the link")


def _own(routes: list[Route], path: str = "") -> list[str]:
    """The links that only one of the paths has, or only this one."""
    return [
        link
        for route in routes
        if path in ("", route.path)
        for link in route.links
        if not any(link in other.links for other in routes if other is not route)
    ]
