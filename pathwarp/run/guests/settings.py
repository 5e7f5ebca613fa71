# SPDX-License-Identifier: Apache-2.0
"""What the settings of every backend have: when guests are given up, and what room they take."""

from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import Field

from pathwarp.base.yamlfile import read
from pathwarp.model.schema.common import DurationNs, Part, SizeBytes
from pathwarp.model.schema.explain import read_model


class Limits(Part):
    """When a guest is killed and its trial fails: `wall_ns` and `wall_per_virtual_second_ns` for each emulated second,
    by the host's clock.
    """

    wall_ns: Annotated[DurationNs, Field(alias="wall", gt=0)]
    wall_per_virtual_second_ns: Annotated[DurationNs, Field(alias="wall-per-virtual-second")]

    def wall_s(self, virtual_s: float) -> float:
        """The time by the host's clock that a trial may take which emulates so many seconds."""
        return (self.wall_ns + self.wall_per_virtual_second_ns * virtual_s) / 1e9


class Watchdog(Limits):
    """Also when it has used `stalled_ns` of CPU time without a single system call."""

    stalled_ns: Annotated[DurationNs, Field(alias="stalled", gt=0)]


class GuestSettings(Part):
    """`room_bytes` are free on the results' disk before and after a trial."""

    FILE: ClassVar[str]

    room_bytes: Annotated[SizeBytes, Field(alias="room")]

    @classmethod
    def of(cls, root: Path) -> Self:
        """Read the file of a project; Complaints for all that is wrong with it."""
        return read_model(cls, read(root / cls.FILE, root))
