# SPDX-License-Identifier: Apache-2.0
"""`fail: address-removed`: the receiver's address on the path goes, and its routes with it.

The kernel's path manager doesn't notice. Somebody has to tell it, as a connection manager does: that is announcing.
"""

from pathwarp.model.events.kind import EventKind, GuestStep, Phase, Site, announce, ip, withdraw


def _begin(site: Site) -> list[GuestStep]:
    lines = [f"rule del from {site.address}", f"addr del {site.address}/24 dev {site.interface}"]
    return [ip(site.receiver, lines)]


def _end(site: Site) -> list[GuestStep]:
    return [ip(site.receiver, site.lines), *announce(site)]


KIND = EventKind(
    "address-removed",
    begin=Phase("begin", _begin),
    between=(Phase("announce", withdraw, option="announce-after", otherwise="nobody is told"),),
    end=Phase("end", _end),
    heard=True,
    at_receiver=True,
)
