# SPDX-License-Identifier: Apache-2.0
"""`fail: interface-down`: the receiver's interface on the path goes down, and its routes with it."""

from pathwarp.model.events.kind import EventKind, GuestStep, Phase, Site, ip


def _begin(site: Site) -> list[GuestStep]:
    return [ip(site.receiver, [f"link set dev {site.interface} down"])]


def _end(site: Site) -> list[GuestStep]:
    # The kernel keeps the address and its rule.
    lines = [line for line in site.lines if line.startswith(("route", "neigh"))]
    return [ip(site.receiver, [f"link set dev {site.interface} up", *lines])]


KIND = EventKind("interface-down", begin=Phase("begin", _begin), end=Phase("end", _end), at_receiver=True)
