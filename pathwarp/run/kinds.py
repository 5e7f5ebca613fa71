# SPDX-License-Identifier: Apache-2.0
"""The kinds of work that guests do: what differs between them before a guest is booted and after it has ended."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pathwarp.model import catalogue
from pathwarp.model.kerneltree import KernelTree
from pathwarp.model.schema.variant import ResolvedVariant
from pathwarp.plan import orders, selftest
from pathwarp.prepare import prepare
from pathwarp.run.guests.decode import decode_log


@dataclass(frozen=True)
class Kind:
    """A kind of work.

    `orders` gives the files that the guest finds in its run folder, from the work and its kernel's release. `ensure`
    prepares what works of these variants need in a project folder, for a backend, with kernels of a user's own
    source if there is one. `kernels` is the backend of kernels/base.yaml that the kernels are of, if not that of the
    work. `complete` adds to the raw files of a project's run folder what is made of them outside of the guest.
    """

    orders: Callable[[Any, str], dict[str, bytes]]
    ensure: Callable[[Path, Sequence[ResolvedVariant], str, KernelTree | None], None]
    complete: Callable[[Path, Path], None]
    kernels: str = ""


def _nothing(root: Path, folder: Path) -> None:
    """The guest leaves all."""


TRIALS = Kind(orders.orders, prepare.ensure, decode_log)
SELFTESTS = Kind(selftest.orders, prepare.ensure_selftests, _nothing, kernels=catalogue.SELFTESTS)
