# SPDX-License-Identifier: Apache-2.0
"""Things that are told in a file each: a package finds those that it has by itself, so that one more is a file more."""

from importlib import import_module
from pkgutil import iter_modules
from typing import TypeVar

Thing = TypeVar("Thing")


def found_beside(module: str, attribute: str, of: type[Thing]) -> list[Thing]:
    """What the modules beside `module` have as `attribute`, in the order of their names.

    Modules without one are what the others share. TypeError for what is something else than `of`.
    """
    package = import_module(module.rpartition(".")[0])
    names = [f"{package.__name__}.{one.name}" for one in iter_modules(package.__path__)]
    others = [import_module(name) for name in names if name != module]
    found = [getattr(other, attribute) for other in others if hasattr(other, attribute)]
    for thing in found:
        if not isinstance(thing, of):
            raise TypeError(f"{attribute} of a module of {package.__name__} is no {of.__name__}: {thing!r}")
    return found
