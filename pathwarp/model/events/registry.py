# SPDX-License-Identifier: Apache-2.0
"""The kinds of event that there are: each module beside this one that has a KIND."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from pathwarp.model.events.kind import EventKind, Phase

_PACKAGE = __name__.rpartition(".")[0]
_MODULES = [
    import_module(f"{_PACKAGE}.{one.name}")
    for one in iter_modules([str(Path(__file__).parent)])
    if f"{_PACKAGE}.{one.name}" != __name__
]

EVENT_KINDS: dict[str, EventKind] = {module.KIND.name: module.KIND for module in _MODULES if hasattr(module, "KIND")}
FAILURES: dict[str, EventKind] = {name: kind for name, kind in EVENT_KINDS.items() if kind.is_failure}


def options() -> dict[str, Phase]:
    """A scenario's keys that only some kinds have, to a phase that each is for."""
    return {phase.option: phase for kind in EVENT_KINDS.values() for phase in kind.between}


def kinds_with(option: str) -> list[str]:
    """The kinds that have such a key."""
    return [name for name, kind in EVENT_KINDS.items() if any(phase.option == option for phase in kind.between)]
