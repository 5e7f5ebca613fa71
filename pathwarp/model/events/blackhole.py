# SPDX-License-Identifier: Apache-2.0
"""`fail: blackhole`: the link swallows every packet in silence, those under way included (sch_blackhole)."""

from pathwarp.model.events.kind import EventKind, GuestStep, Phase, Site, shape, tc


def _begin(site: Site) -> list[GuestStep]:
    lines: dict[str, list[str]] = {}
    for node, interface in site.leaves:
        lines.setdefault(node, []).append(f"qdisc replace dev {interface} root handle 2: blackhole")
    return [tc(node, own) for node, own in lines.items()]


def _end(site: Site) -> list[GuestStep]:
    # It took the place of the link's shape, so giving that again ends it.
    return [shape(site, fresh=True)]


KIND = EventKind("blackhole", begin=Phase("begin", _begin), end=Phase("end", _end, gives_shape=True))
