# SPDX-License-Identifier: Apache-2.0
"""The kinds of event that there are: each module beside this one that has a KIND."""

from pathwarp.base.plugins import found_beside
from pathwarp.model.events.kind import EventKind, Phase

EVENT_KINDS: dict[str, EventKind] = {kind.name: kind for kind in found_beside(__name__, "KIND", EventKind)}
FAILURES: dict[str, EventKind] = {name: kind for name, kind in EVENT_KINDS.items() if kind.is_failure}


def options() -> dict[str, Phase]:
    """A scenario's keys that only some kinds have, to a phase that each is for."""
    return {phase.option: phase for kind in EVENT_KINDS.values() for phase in kind.between}


def kinds_with(option: str) -> list[str]:
    """The kinds that have such a key."""
    return [name for name, kind in EVENT_KINDS.items() if any(phase.option == option for phase in kind.between)]
