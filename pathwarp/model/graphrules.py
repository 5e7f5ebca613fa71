# SPDX-License-Identifier: Apache-2.0
"""What must hold across the nodes, links and paths of a graph.

As in `rules`, these look at the file as read, so that one mistake doesn't hide the next. A path is looked at as far as
its links are sound.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pathwarp.base.complaints import Complaint
from pathwarp.base.yamlfile import Place, YamlFile
from pathwarp.model.catalogue import suggest
from pathwarp.model.routes import Ends, Route, between, routes_of, walk

MOST_NODES = 50
# What the kernel's path manager takes (MPTCP_PM_ADDR_MAX), of a host's addresses and of a connection's subflows.
MOST_INTERFACES = MOST_SUBFLOWS = 8
# What the guest calls the interface for signalling.
TAKEN = "management"


def is_graph(data: Mapping[str, Any]) -> bool:
    """Whether a topology is a graph, and not of the short form."""
    return "links" in data or "routers" in data


def ends_of_paths(data: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Path to the hosts at its ends, of a topology of either form; none where these can't be told."""
    links, paths, hosts = _mapping(data.get("links")), _mapping(data.get("paths")), _texts(data.get("hosts"))
    if not is_graph(data):
        return dict.fromkeys(paths, (hosts[0], hosts[1])) if len(hosts) == 2 else {}
    try:
        ends = {name: (link["between"][0], link["between"][1]) for name, link in links.items()}
        return {route.path: route.hosts for route in routes_of(ends, paths, hosts)}
    except (KeyError, IndexError, TypeError):
        return {}


def main_paths(data: Mapping[str, Any], hosts: Sequence[object]) -> list[str]:
    """The paths between two hosts, of which a scenario can prefer one; all where these can't be told."""
    found = [path for path, ends in ends_of_paths(data).items() if set(ends) == set(hosts)]
    return found or list(_mapping(data.get("paths")))


def graph_complaints(file: YamlFile) -> Iterator[Complaint]:
    """All that is wrong with a graph beyond its model."""
    hosts, routers = (_texts(file.data.get(key)) for key in ("hosts", "routers"))
    yield from _node_complaints(file, hosts, routers)
    links, paths = (_mapping(file.data.get(key)) for key in ("links", "paths"))
    sound: dict[str, tuple[str, str]] = {}
    for name, link in links.items():
        found = list(_link_complaints(file, name, _mapping(link), list(dict.fromkeys((*hosts, *routers)))))
        yield from found
        nodes = _mapping(link).get("between")
        if not found and isinstance(nodes, list) and len(nodes) == 2:
            sound[name] = (nodes[0], nodes[1])
    for host in hosts:
        own = [name for name, nodes in sound.items() if host in nodes]
        if len(own) > MOST_INTERFACES:
            what = f"{host} has {len(own)} links: {', '.join(own)}"
            yield Complaint(file.where(("hosts", hosts.index(host))), what, f"at most {MOST_INTERFACES} for each host")
    whole, ended = [], []
    for path, along in paths.items():
        found = list(_path_complaints(file, path, along, sound))
        yield from found
        if found or not _texts(along) or not all(link in sound for link in _texts(along)):
            continue
        whole.append(path)
        found = list(_end_complaints(file, path, walk(sound, along), hosts))
        yield from found
        ended += [] if found else [path]
    yield from _mtu_complaints(file, {path: paths[path] for path in whole})
    if len(hosts) > 1:
        routes = routes_of(sound, {path: paths[path] for path in ended}, hosts)
        yield from _pair_complaints(file, routes, sound)
        if len(ended) == len(paths) and not between(routes, hosts[0], hosts[1]):
            what = f"none leads from {hosts[0]} to {hosts[1]}, which are the trial's sender and receiver"
            yield Complaint(file.where(("paths",)), what, "", "the first two hosts need a path")


def _node_complaints(file: YamlFile, hosts: list[str], routers: list[str]) -> Iterator[Complaint]:
    seen: set[str] = set()
    for key, nodes in (("hosts", hosts), ("routers", routers)):
        for index, node in enumerate(nodes):
            if node in seen:
                yield Complaint(file.where((key, index)), f"'{node}' is there twice", "a name of its own for each node")
            seen.add(node)
    if len(seen) > MOST_NODES:
        yield Complaint(file.where(("hosts",)), f"{len(seen)} hosts and routers", f"at most {MOST_NODES} together")


def _link_complaints(file: YamlFile, name: str, link: dict[Any, Any], nodes: list[str]) -> Iterator[Complaint]:
    place: Place = ("links", name)
    ends = link.get("between")
    if name == TAKEN:
        yield Complaint(file.where(place), "is what the link for signalling is called", "", "call it something else")
    if isinstance(ends, list):
        for index, end in enumerate(ends):
            if isinstance(end, str) and end not in nodes:
                what = f"'{end}' is neither a host nor a router"
                yield Complaint(file.where((*place, "between", index)), what, ", ".join(nodes), suggest(end, nodes))
        if len(ends) == 2 and ends[0] == ends[1]:
            yield Complaint(file.where((*place, "between")), f"joins {ends[0]} to itself", "two nodes, such as [a, b]")
    if "trace" in link and not {"down", "up"} & set(link):
        hint = "give it down, up or both: the queue is always theirs"
        yield Complaint(file.where((*place, "trace")), "is for a link that has no shape", "", hint)


def _path_complaints(file: YamlFile, path: str, along: object, ends: Ends) -> Iterator[Complaint]:
    links, place = _texts(along), ("paths", path)
    valid = list(_mapping(file.data.get("links")))
    for index, link in enumerate(links):
        if link not in valid:
            what = f"'{link}' is not a link"
            yield Complaint(file.where((*place, index)), what, ", ".join(valid), suggest(link, valid))
    if not links or not all(link in ends for link in links):
        return
    nodes = walk(ends, links)
    if len(nodes) <= len(links):
        near, far = links[len(nodes) - 2], links[len(nodes) - 1]
        what = f"isn't connected: {near} leads to {nodes[-1]}, {far} is between {' and '.join(ends[far])}"
        yield Complaint(file.where((*place, len(nodes) - 1)), what, "", "links in the order in which packets pass them")
        return
    twice = next((node for index, node in enumerate(nodes) if node in nodes[:index]), None)
    if twice:
        yield Complaint(file.where(place), f"passes {twice} twice: {' - '.join(nodes)}", "each node at most once")


def _end_complaints(file: YamlFile, path: str, nodes: tuple[str, ...], hosts: list[str]) -> Iterator[Complaint]:
    where = file.where(("paths", path))
    routers = [node for node in (nodes[0], nodes[-1]) if node not in hosts]
    between_hosts = [node for node in nodes[1:-1] if node in hosts]
    for node in routers:
        yield Complaint(where, f"ends at {node}, which is a router", "from host to host", "add the link to a host")
    for node in between_hosts:
        yield Complaint(where, f"leads through the host {node}", "only routers between its ends", "make it a router")


def _mtu_complaints(file: YamlFile, paths: dict[str, list[str]]) -> Iterator[Complaint]:
    for path, links in paths.items():
        mtus = {link: str(_mapping(file.data["links"][link]).get("mtu")) for link in links}
        if len(set(mtus.values())) > 1:
            what = f"has links of different MTUs: {', '.join(f'{link} {mtu}' for link, mtu in mtus.items())}"
            yield Complaint(file.where(("paths", path)), what, "one MTU for all links of a path")


def _pair_complaints(file: YamlFile, routes: list[Route], ends: Ends) -> Iterator[Complaint]:
    """Between two hosts, what tells paths apart is the hosts' addresses, that is their first and last links."""
    pairs = dict.fromkeys(tuple(sorted(route.hosts)) for route in routes)
    for first, second in pairs:
        both = between(routes, first, second)
        if len(both) > MOST_SUBFLOWS:
            where = file.where(("paths", both[MOST_SUBFLOWS].path))
            yield Complaint(where, f"is one of {len(both)} between {first} and {second}", f"at most {MOST_SUBFLOWS}")
        for index, route in enumerate(both):
            outer = route.links[0], route.links[-1]
            for other in both[:index]:
                if (other.links[0], other.links[-1]) == outer:
                    what = f"begins and ends as {other.path} does, so their addresses are the same"
                    hint = f"give {first} or {second} a link of its own for each path"
                    yield Complaint(file.where(("paths", route.path)), what, "", hint)


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _mapping(value: object) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}
