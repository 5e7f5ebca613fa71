# SPDX-License-Identifier: Apache-2.0
"""What makes up a kind of event: what the guest does when it begins and when it ends, and what that means.

The guest knows no kinds. It carries out steps, of which there are few, and the kind says which.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

GuestStep = Mapping[str, object]


@dataclass(frozen=True)
class Site:
    """A link as an event finds it.

    `leaves` are node and interface where its two directions leave nodes that shape them, up first. `interface` is the
    receiver's, `address` the one there, `lines` are those of `ip` that put the receiver on it; all empty where the link
    doesn't lead to the receiver. `path` is that of the data. `shapes` has the shaped directions from the event's
    instant on, where the event gives the link its shape.
    """

    link: str
    path: str
    leaves: tuple[tuple[str, str], ...]
    receiver: str
    interface: str
    address: str
    lines: tuple[str, ...]
    is_mptcp: bool
    shapes: Mapping[str, object]


@dataclass(frozen=True)
class Phase:
    """One of the instants of an event. `gives_shape`: what the path's shape is from then on is among its steps.

    Between beginning and end there can be some that come after a time of their own: `option` is the key of the scenario
    that says how long after the beginning (a duration, 0 by default), `otherwise` why other kinds have no such key.
    """

    name: str
    steps: Callable[[Site], Sequence[GuestStep]]
    gives_shape: bool = False
    option: str = ""
    otherwise: str = ""

    @property
    def field(self) -> str:
        """The option as the field of a model."""
        return f"{self.option.replace('-', '_')}_ns"


@dataclass(frozen=True)
class EventKind:
    """A kind of event. `is_failure`: the path is down until it ends; a scenario's key `fail` names it.

    `heard`: the receiver's interface still hears packets meanwhile, but its host no longer takes them. `at_receiver`:
    it happens to the receiver's own interface, not to the link.
    """

    name: str
    begin: Phase
    end: Phase
    between: tuple[Phase, ...] = ()
    is_failure: bool = True
    heard: bool = False
    at_receiver: bool = False

    def phase(self, name: str) -> Phase:
        return next(phase for phase in (self.begin, *self.between, self.end) if phase.name == name)


def ip(node: str, lines: Sequence[str]) -> GuestStep:
    """Give `ip -batch` on a node these lines."""
    return {"do": "ip", "node": node, "lines": list(lines)}


def tc(node: str, lines: Sequence[str]) -> GuestStep:
    """Give `tc -batch` on a node these lines."""
    return {"do": "tc", "node": node, "lines": list(lines)}


def shape(site: Site, fresh: bool = False) -> GuestStep:
    """Give the link the shape of this instant; `fresh` where something else had taken its place."""
    return {"do": "shape", "link": site.link, "shape": site.shapes, "fresh": fresh}


def reshape(phase: str) -> Phase:
    """A phase that gives the link the shape of its instant, and nothing else."""
    return Phase(phase, lambda site: [shape(site)], gives_shape=True)


def announce(site: Site) -> list[GuestStep]:
    """Have the receiver's path manager announce its address on the path (ADD_ADDR); plain TCP has none."""
    return [{"do": "announce", "path": site.path}] if site.is_mptcp else []


def withdraw(site: Site) -> list[GuestStep]:
    """Tell the receiver's path manager that its address on the path is gone (REMOVE_ADDR); plain TCP has none."""
    return [{"do": "withdraw", "path": site.path}] if site.is_mptcp else []
