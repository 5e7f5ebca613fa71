# SPDX-License-Identifier: Apache-2.0
"""The ways to run a guest that there are: each module beside this one that has a BACKEND."""

from collections.abc import Iterator

from pathwarp.base.complaints import Complaint
from pathwarp.base.plugins import found_beside
from pathwarp.model.backends.backend import Backend

BACKENDS: dict[str, Backend] = {one.name: one for one in found_beside(__name__, "BACKEND", Backend)}
# What is used unless another one is asked for, and what results without another one's name in theirs are of.
DEFAULT_BACKEND = "uml"


def backend_complaint(name: str) -> Iterator[Complaint]:
    if name not in BACKENDS:
        yield Complaint("backend", f"unknown backend {name!r}", ", ".join(BACKENDS))
