# SPDX-License-Identifier: Apache-2.0
"""`vms/uml.yaml` and `vms/vm.yaml`: how guests are started, and when they are given up."""

from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import BeforeValidator, Field

from pathwarp.base.complaints import BadValue
from pathwarp.base.yamlfile import read
from pathwarp.model.schema.common import DurationNs, Part, SizeBytes
from pathwarp.model.schema.explain import read_model

# A machine is asked so often, each second at the most, before its silence counts.
SILENCES = 4


def read_instant_ns(value: object) -> int:
    """`2026-01-01T00:00:00Z` in ns since the epoch."""
    instant = None
    with suppress(ValueError):
        instant = datetime.fromisoformat(value) if isinstance(value, str) else None
    if instant is None or instant.tzinfo is None:
        raise BadValue("is not an instant", "such as 2026-01-01T00:00:00Z")
    return int(instant.timestamp()) * 1_000_000_000


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


class UmlSettings(GuestSettings):
    """`memory` as the kernel's `mem=` takes it; `start_ns` is the guest's clock at boot, since the epoch."""

    FILE = "vms/uml.yaml"

    memory: Annotated[str, Field(pattern=r"^[1-9][0-9]{0,5}[MG]$")]
    start_ns: Annotated[int, BeforeValidator(read_instant_ns), Field(alias="clock-start")]
    watchdog: Watchdog


class VmSettings(GuestSettings):
    """`memory` of a machine, in MiB; `boot_ns` is what it gets to answer after power-on, `silence_ns` later on."""

    FILE = "vms/vm.yaml"

    memory: Annotated[str, Field(pattern=r"^[1-9][0-9]{2,5}M$")]
    boot_ns: Annotated[DurationNs, Field(alias="boot", gt=0)]
    silence_ns: Annotated[DurationNs, Field(alias="silence", ge=SILENCES * 1_000_000_000)]
    watchdog: Limits
