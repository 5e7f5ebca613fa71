# SPDX-License-Identifier: Apache-2.0
"""What no event of a scenario makes: the path follows a trace, whose shape changes."""

from pathwarp.model.events.kind import EventKind, GuestStep, Phase, Site, shape


def _shape(site: Site) -> list[GuestStep]:
    return [shape(site)]


KIND = EventKind(
    "trace",
    begin=Phase("begin", _shape, gives_shape=True),
    end=Phase("end", _shape, gives_shape=True),
    is_failure=False,
)
