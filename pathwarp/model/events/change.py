# SPDX-License-Identifier: Apache-2.0
"""`change`: the path's shape has new values for some attributes until it ends."""

from pathwarp.model.events.kind import EventKind, GuestStep, Phase, Site, shape


def _shape(site: Site) -> list[GuestStep]:
    return [shape(site)]


KIND = EventKind(
    "change",
    begin=Phase("begin", _shape, gives_shape=True),
    end=Phase("end", _shape, gives_shape=True),
    is_failure=False,
)
