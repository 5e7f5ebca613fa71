# SPDX-License-Identifier: Apache-2.0
"""What a guest is booted with, apart from its kernel, and what it is booted for."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pathwarp.model.kerneltree import KernelTree
from pathwarp.model.schema.variant import ResolvedVariant


@dataclass(frozen=True)
class Kit:
    """The lab root of that name (`vms/NAME.yaml`), and of `pathwarp/guest/` the program that is the first process.

    `programs`: the guest has the programs of the kernel's own tests, of `tests_of` where that is a user's own source.
    """

    lab: str
    init: str
    programs: bool = False
    tests_of: KernelTree | None = None


class Work(Protocol):
    """What a guest is booted for: a trial, or a test of the kernel's own.

    Its kernel is made from `source`, a user's own, or else the packaged one; `parameters` are for it, beyond what every
    guest's kernel gets. `folder` is where the result goes, relative to the project's folder; `title` says which work it
    is, in a line. `virtual_s` is how long it lasts or may last by the guest's clock, which goes as `time_mode` says.
    """

    @property
    def variant(self) -> ResolvedVariant: ...

    @property
    def seed(self) -> int: ...

    @property
    def backend(self) -> str: ...

    @property
    def source(self) -> KernelTree | None: ...

    @property
    def kit(self) -> Kit: ...

    @property
    def parameters(self) -> tuple[str, ...]: ...

    @property
    def folder(self) -> Path: ...

    @property
    def title(self) -> str: ...

    @property
    def virtual_s(self) -> float: ...

    @property
    def time_mode(self) -> str: ...

    def describe(self) -> dict[str, Any]:
        """What its manifest says of it beside variant, seed, backend and time."""
