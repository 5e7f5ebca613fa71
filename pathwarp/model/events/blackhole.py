# SPDX-License-Identifier: Apache-2.0
"""`fail: blackhole`: the path swallows every packet in silence, those under way included (sch_blackhole)."""

from pathwarp.model.events.kind import EventKind, GuestStep, Phase, Site, shape, tc


def _begin(site: Site) -> list[GuestStep]:
    return [tc(site.middle, [f"qdisc replace dev {host} root handle 2: blackhole" for host in site.hosts])]


def _end(site: Site) -> list[GuestStep]:
    # It took the place of the path's shape, so giving that again ends it.
    return [shape(site, fresh=True)]


KIND = EventKind("blackhole", begin=Phase("begin", _begin), end=Phase("end", _end, gives_shape=True))
