# SPDX-License-Identifier: Apache-2.0
"""What happens to the paths, and when: the plan has the steps of each event, and here is how each step is taken."""

import time
from collections.abc import Callable

import mptcp
from network import Network
from shapers import Shapers

_AHEAD_NS = 1_000_000


def _batch(network: Network, shapers: Shapers, step: dict) -> None:
    network.batch(network.node(step["node"]), step["do"], step["lines"])


def _shape(network: Network, shapers: Shapers, step: dict) -> None:
    shapers.shape(step["link"], step["shape"], step["fresh"])


def _announce(network: Network, shapers: Shapers, step: dict) -> None:
    mptcp.announce(network, step["path"])


def _withdraw(network: Network, shapers: Shapers, step: dict) -> None:
    mptcp.withdraw(network, step["path"])


_STEPS: dict[str, Callable[[Network, Shapers, dict], None]] = {
    "ip": _batch,
    "tc": _batch,
    "shape": _shape,
    "announce": _announce,
    "withdraw": _withdraw,
}


def sleep_until(instant_ns: int) -> None:
    """Sleep until an instant of the guest's clock, in ns since the epoch."""
    while (left := instant_ns - time.time_ns()) > 0:
        time.sleep(left / 1e9)


def run(network: Network, zero_ns: int, look: Callable[[dict], None]) -> list[dict]:
    """Carry out the plan's events at their instants after the flow's zero; what was done, and when exactly.

    `look` is called a millisecond ahead of each event that expects something.
    """
    done: list[dict] = []
    with Shapers(network) as shapers:
        for event in network.plan["events"]:
            if "expect" in event:
                sleep_until(zero_ns + event["at_ns"] - _AHEAD_NS)
                look(event)
            sleep_until(zero_ns + event["at_ns"])
            for step in event["steps"]:
                _STEPS[step["do"]](network, shapers, step)
            # Once it is done: `ip` and `tc` read clocks, and packets arrive meanwhile.
            facts = {key: event[key] for key in ("path", "kind", "phase", "path_is", "heard") if key in event}
            done.append({"at_ns": time.time_ns(), **facts})
    return done
