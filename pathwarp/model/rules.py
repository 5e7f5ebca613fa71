# SPDX-License-Identifier: Apache-2.0
"""What must hold across the keys and files of a scenario: names that exist, paths that exist, times in order.

These look at the files as read, not at the models, so that one mistake in a file does not hide the next. A value of the
wrong type or unit is left to the models.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from pathwarp.base.complaints import Complaint
from pathwarp.base.units import parse_duration_ns
from pathwarp.base.yamlfile import Place, YamlFile
from pathwarp.model.catalogue import SELFTESTS, TOPOLOGY, VARIANT, WORKLOAD, Catalogue, FileKind, is_name, suggest
from pathwarp.model.events.registry import kinds_with, options
from pathwarp.model.flowrules import flow_complaints
from pathwarp.model.graphrules import main_paths
from pathwarp.model.schema.exactloss import read_position

Value = TypeVar("Value")


def scenario_complaints(file: YamlFile, topology: YamlFile | None, catalogue: Catalogue) -> Iterator[Complaint]:
    """All that is wrong with a scenario beyond its models; `topology` is None when that could not be read."""
    yield from _name_complaints(file, catalogue)
    data = file.data
    if data.get("name") == SELFTESTS:
        yield Complaint(file.where(("name",)), "is what the results of the kernel's own tests are called")
    traffic = _list(data.get("traffic"))
    for index, name in enumerate(_list(data.get("default-traffic"))):
        if traffic and name not in traffic:
            where = file.where(("default-traffic", index))
            yield Complaint(where, f"{name!r} is not in traffic", ", ".join(map(str, traffic)))
    scheduler = ("sysctls", "net.mptcp.scheduler")
    if _at(data, scheduler):
        yield Complaint(
            file.where(scheduler), "is set by the key scheduler", hint=f"write `scheduler: {_at(data, scheduler)}`"
        )
    paths = main_paths(topology.data, _ends(data, topology.data)) if topology else []
    # In a graph, an event may name a link, too.
    links = list(_mapping(topology.data.get("links"))) if topology else []
    places: list[Place] = [("preferred-path",)]
    places += [(key, index, "path") for key in ("events", "losses") for index in range(len(_list(data.get(key))))]
    for place in places:
        name, valid = _at(data, place), [*paths, *links] if place[0] == "events" else paths
        if valid and isinstance(name, str) and name not in valid:
            what = f"'{name}' is not a path of the topology {data.get('topology')}"
            yield Complaint(file.where(place), what, ", ".join(dict.fromkeys(valid)), suggest(name, valid))
    yield from flow_complaints(file, topology, catalogue)
    for index, loss in enumerate(_list(data.get("losses"))):
        yield from _loss_complaints(file, ("losses", index), _mapping(loss))
    for index, event in enumerate(_list(data.get("events"))):
        yield from _event_complaints(file, ("events", index), _mapping(event))


def _ends(data: dict[str, Any], topology: dict[str, Any]) -> list[object]:
    """Sender and receiver of the data: those of the primary flow, or else the first two hosts."""
    flows = [_mapping(flow) for flow in _list(data.get("flows"))]
    primary = next((flow for flow in flows if flow.get("primary") is True), None)
    return [primary.get("from"), primary.get("to")] if primary else _list(topology.get("hosts"))[:2]


def _name_complaints(file: YamlFile, catalogue: Catalogue) -> Iterator[Complaint]:
    """Names in a scenario that are those of no file."""
    places: list[tuple[FileKind, Place]] = [(TOPOLOGY, ("topology",)), (VARIANT, ("baseline",))]
    for kind, key in ((VARIANT, "variants"), (WORKLOAD, "traffic")):
        places += [(kind, (key, index)) for index in range(len(_list(file.data.get(key))))]
    for kind, place in places:
        name = _at(file.data, place)
        complaint = catalogue.complaint(kind, name, file.where(place)) if is_name(name) else None
        if complaint:
            yield complaint


def _loss_complaints(file: YamlFile, place: Place, loss: dict[str, Any]) -> Iterator[Complaint]:
    """What a packet counted on a link can't be: it has no burst and no copies, and is counted from the first one on."""
    if loss.get("of") != "link":
        return
    if "path" not in loss:
        yield Complaint(file.where(place), "is of a link, but has no path", hint="name the path whose link it is")
    for key in ("burst", "copies"):
        if key in loss:
            what = "has no meaning for a packet that is counted on a link"
            yield Complaint(file.where((*place, key)), what, hint=f"leave {key} out")
    position = _read(read_position, loss.get("position"))
    if isinstance(position, float) or (position is not None and position < 0):
        what = f"{loss['position']!r} can't be known ahead on a link"
        yield Complaint(file.where((*place, "position")), what, "first, or a whole number from 1 on")


def _event_complaints(file: YamlFile, place: Place, event: dict[str, Any]) -> Iterator[Complaint]:
    where = file.where(place)
    if event and ("fail" in event) == ("change" in event):
        both = "both fail and change" if "fail" in event else "neither fail nor change"
        yield Complaint(where, f"has {both}", "one of the two", "write two events if both are meant")
    if event.get("change") == {}:
        yield Complaint(file.where((*place, "change")), "changes nothing", "some of rate, delay, queue, loss")
    if "direction" in event and "change" not in event:
        yield Complaint(file.where((*place, "direction")), "is for change only", hint="a failure takes both directions")
    repeat = _mapping(event.get("repeat"))
    for option, phase in options().items():
        kinds = kinds_with(option)
        if option in event and event.get("fail") not in kinds:
            yield Complaint(file.where((*place, option)), f"is for fail: {', '.join(kinds)} only", "", phase.otherwise)
    if repeat.get("times") not in (None, 1) and "fail" in event and "until" not in event:
        yield Complaint(file.where((*place, "repeat")), "needs an end of each failure", hint="give the event an until")
    at, until, end = (_read(parse_duration_ns, value) for value in _times(file.data, event))
    if at is not None and end is not None and at >= end:
        yield Complaint(
            file.where((*place, "at")),
            f"'{event['at']}' is not before the end of the scenario",
            f"less than {file.data['duration']}",
            "move the event or raise duration",
        )
    if at is not None and until is not None and until <= at:
        yield Complaint(
            file.where((*place, "until")), f"'{event['until']}' is not after at", f"more than {event['at']}"
        )


def _times(scenario: dict[str, Any], event: dict[str, Any]) -> tuple[object, object, object]:
    return event.get("at"), event.get("until"), scenario.get("duration")


def _read(parse: Callable[[object], Value], value: object) -> Value | None:
    try:
        return parse(value)
    except ValueError:
        return None


def _at(data: object, place: Place) -> object:
    for step in place:
        data = data[step] if isinstance(data, list) and isinstance(step, int) else _mapping(data).get(step)
    return data


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: object) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}
