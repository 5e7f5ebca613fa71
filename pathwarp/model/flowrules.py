# SPDX-License-Identifier: Apache-2.0
"""What must hold of a scenario's flows: hosts that exist, a path between them, one primary, traffic for each load.

As in `rules`, these look at the files as read.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pathwarp.base.complaints import Complaint
from pathwarp.base.units import parse_duration_ns
from pathwarp.base.yamlfile import Place, YamlFile
from pathwarp.model.catalogue import WORKLOAD, Catalogue, is_name, suggest
from pathwarp.model.graphrules import ends_of_paths

# What the primary flow has from the scenario.
_OF_LOAD = ("transport", "traffic", "start", "stop")


def load_names(data: Mapping[str, Any]) -> list[str]:
    """The workloads of a scenario's load, each once."""
    flows = data.get("flows")
    entries = [flow for flow in flows if isinstance(flow, dict)] if isinstance(flows, list) else []
    names = [flow.get("traffic") for flow in entries if flow.get("primary") is not True]
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))


def flow_complaints(file: YamlFile, topology: YamlFile | None, catalogue: Catalogue) -> Iterator[Complaint]:
    """All that is wrong with the flows of a scenario beyond their model."""
    flows = file.data.get("flows")
    if not isinstance(flows, list):
        return
    primaries = [index for index, flow in enumerate(flows) if isinstance(flow, dict) and flow.get("primary") is True]
    if not primaries:
        hint = "write primary: true for the one that the metrics are about"
        yield Complaint(file.where(("flows",)), "has no primary flow", "one", hint)
    for index in primaries[1:]:
        what = f"is a second primary flow, beside flows.{primaries[0]}"
        yield Complaint(file.where(("flows", index, "primary")), what, "one primary flow")
    seen: dict[str, int] = {}
    for index, flow in enumerate(flows):
        if isinstance(flow, dict):
            name = flow.get("name")
            if isinstance(name, str) and seen.setdefault(name, index) != index:
                what = f"'{name}' is the name of flows.{seen[name]}, too"
                yield Complaint(file.where(("flows", index, "name")), what, "a name of its own for each flow")
            yield from _own_complaints(file, ("flows", index), flow, catalogue)
            yield from _route_complaints(file, ("flows", index), flow, topology.data if topology else {})


def _own_complaints(file: YamlFile, place: Place, flow: Mapping[str, Any], catalogue: Catalogue) -> Iterator[Complaint]:
    if flow.get("primary") is True:
        for key in (key for key in _OF_LOAD if key in flow):
            yield Complaint(
                file.where((*place, key)), "is for load", "", "the scenario and the variant say it of the primary flow"
            )
        return
    traffic = flow.get("traffic")
    if traffic is None:
        yield Complaint(file.where((*place, "traffic")), "is missing", ", ".join(catalogue.names(WORKLOAD)))
    elif is_name(traffic):
        complaint = catalogue.complaint(WORKLOAD, traffic, file.where((*place, "traffic")))
        if complaint:
            yield complaint
    times = {key: _read(flow.get(key, otherwise)) for key, otherwise in (("start", "0 s"), ("stop", None))}
    end = _read(file.data.get("duration"))
    start, stop = times["start"], times["stop"]
    if start is not None and end is not None and start >= end:
        what = f"'{flow.get('start')}' is not before the end of the scenario"
        yield Complaint(file.where((*place, "start")), what, f"less than {file.data['duration']}")
    if start is not None and stop is not None and stop <= start:
        yield Complaint(file.where((*place, "stop")), f"'{flow['stop']}' is not after start")
    if stop is not None and end is not None and stop > end:
        what = f"'{flow['stop']}' is after the end of the scenario"
        yield Complaint(file.where((*place, "stop")), what, f"at most {file.data['duration']}")


def _route_complaints(
    file: YamlFile, place: Place, flow: Mapping[str, Any], topology: Mapping[str, Any]
) -> Iterator[Complaint]:
    hosts = [host for host in topology.get("hosts") or [] if isinstance(host, str)]
    unknown = False
    for key in ("from", "to"):
        name = flow.get(key)
        if hosts and isinstance(name, str) and name not in hosts:
            unknown = True
            what = f"'{name}' is not a host of the topology {file.data.get('topology')}"
            yield Complaint(file.where((*place, key)), what, ", ".join(hosts), suggest(name, hosts))
    ends = (flow.get("from"), flow.get("to"))
    paths = ends_of_paths(topology)
    if unknown or not paths or not all(isinstance(end, str) for end in ends):
        return
    between = [path for path, its in paths.items() if set(its) == set(ends) and ends[0] != ends[1]]
    if not between:
        what = f"no path leads from {ends[0]} to {ends[1]}"
        yield Complaint(file.where(place), what, ", ".join(f"{a} and {b}" for a, b in dict.fromkeys(paths.values())))


def _read(value: object) -> int | None:
    try:
        return parse_duration_ns(value)
    except ValueError:
        return None
