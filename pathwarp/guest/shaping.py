# SPDX-License-Identifier: Apache-2.0
"""Links as netem queues on middle nodes, one for each direction.

netem works out when a packet leaves as soon as it comes, so what waits doesn't see a change of rate. A link whose rate
changes all the time (`adapts`) therefore has its rate from HTB, and only delay, loss and the limit from netem.

A link with jitter has its delay from an inner netem, behind the queue: the draws come on top of what waiting took.
"""

# The handle of the netem that draws; guest/draws.py has what.
INNER = 0x20

_ETHERNET_BYTES = 14
# A class that holds packets of the token rate back one by one: no burst, however long it was idle.
_NO_BURST = "burst 1 cburst 1"
# netem with a rate keeps the order when a delay gets shorter; this one takes next to no time.
_IN_ORDER = "rate 100gbit"


def _loss(loss: dict | None) -> str:
    if loss is None:
        return ""
    if loss["kind"] == "random":
        return f" loss random {100 * loss['fraction']:.6f}%"
    return f" loss gemodel {100 * loss['p']:.6f}% {100 * loss['r']:.6f}%"


def _netem(shape: dict, rate: str) -> str:
    limit = f"netem limit {shape['limit_packets']}"
    delay = "" if "jitter" in shape else f" {_delay(shape)}"
    return f"{limit} {rate}{delay}{_loss(shape['loss'])}"


def _delay(shape: dict) -> str:
    return f"delay {shape['delay_ns'] / 1000:.3f}us"


def _inner(interface: str, parent: str, shape: dict, fresh: bool) -> list[str]:
    """Make a place for the draws."""
    if "jitter" not in shape or not fresh:
        return []
    netem = f"netem limit {shape['limit_packets']} {_delay(shape)}"
    return [f"qdisc replace dev {interface} parent {parent} handle {INNER:x}: {netem}"]


def lines(interface: str, shape: dict, mtu_bytes: int, fresh: bool) -> list[str]:
    """The `tc` lines for one direction: rate in bit/s, delay in ns, limit in packets (tc-netem(8), tc-htb(8)).

    netem's rate charges every packet its length over the rate, so each packet has its serialisation time; HTB's lets
    the next one wait for it. `fresh`: there is no shape yet, or something else took its place.
    """
    rate = f"rate {shape['rate_bit_s']}bit"
    if not shape.get("adapts"):
        outer = f"qdisc replace dev {interface} root handle 1: {_netem(shape, rate)}"
        return [outer, *_inner(interface, "1:1", shape, fresh)]
    root = [f"qdisc replace dev {interface} root handle 1: htb default 1"] if fresh else []
    least = f" mpu {shape['cost_as_bytes']}" if "cost_as_bytes" in shape else ""
    ceiling = f"ceil {shape['rate_bit_s']}bit {_NO_BURST} quantum {mtu_bytes + _ETHERNET_BYTES}{least}"
    return [
        *root,
        f"class replace dev {interface} parent 1: classid 1:1 htb {rate} {ceiling}",
        f"qdisc replace dev {interface} parent 1:1 handle 10: {_netem(shape, _IN_ORDER)}",
        *_inner(interface, "10:1", shape, fresh),
    ]


def qdiscs(shape: dict) -> int:
    """How many queueing disciplines a direction has."""
    return 1 + ("adapts" in shape) + ("jitter" in shape)
