# SPDX-License-Identifier: Apache-2.0
"""Model of a network in its short form, `topologies/NAME.yaml`: two hosts and the paths between them."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from pathwarp.base.complaints import BadValue
from pathwarp.base.units import parse_size_bytes
from pathwarp.model.routes import Route
from pathwarp.model.schema.common import (
    Device,
    DurationNs,
    Fraction,
    Line,
    MeanPackets,
    Name,
    PacketCount,
    Part,
    RateBitS,
    between,
)
from pathwarp.model.schema.jitter import Jitter
from pathwarp.model.schema.linktrace import LinkTrace

DIRECTIONS = ("down", "up")


class Loss(Part):
    """Random loss: `1 %`, each packet for itself, or `{mean: 1 %, burst: 4 packets}`, in bursts (Gilbert-Elliott)."""

    mean_fraction: Annotated[Fraction, Field(alias="mean")]
    burst_packets: Annotated[MeanPackets | None, Field(alias="burst")] = None

    @model_validator(mode="before")
    @classmethod
    def read_short_form(cls, value: object) -> object:
        return value if isinstance(value, dict) else {"mean": value}

    @model_validator(mode="after")
    def check_reachable(self) -> Self:
        if self.burst_packets and self.mean_fraction > self.burst_packets / (1 + self.burst_packets):
            raise BadValue(
                f"no bursts of {self.burst_packets:g} packets make a mean of {100 * self.mean_fraction:g} %",
                f"a mean of at most burst / (1 + burst) = {100 * self.burst_packets / (1 + self.burst_packets):g} %",
            )
        return self

    def netem(self) -> dict[str, object] | None:
        """netem's parameters, fractions of 1; None for no loss.

        Gilbert-Elliott as netem has it, all packets lost in the bad state and none in the good one: bursts of mean
        length b end with r = 1/b, and the share of time in the bad state, p / (p + r), is the mean loss m, so
        p = m r / (1 - m).
        """
        if self.mean_fraction == 0:
            return None
        if self.burst_packets is None:
            return {"kind": "random", "fraction": self.mean_fraction}
        r = 1 / self.burst_packets
        return {"kind": "gemodel", "p": min(1.0, self.mean_fraction * r / (1 - self.mean_fraction)), "r": r}


class Shape(Part):
    """What one direction of a path does to packets: serialisation at `rate`, then `delay`; a queue of packets waits.

    Where it follows a `trace`, that has the values instead of these from its first line on.
    """

    rate_bit_s: Annotated[RateBitS, Field(alias="rate")]
    delay_ns: Annotated[DurationNs, Field(alias="delay")]
    queue_packets: Annotated[PacketCount, Field(alias="queue")]
    loss: Loss | None = None
    jitter: Jitter | None = None
    trace: LinkTrace | None = None

    @model_validator(mode="after")
    def check_jitter(self) -> Self:
        if self.jitter:
            self.jitter.check_delay(self.delay_ns)
        return self

    def netem(self, mtu_bytes: int) -> dict[str, object]:
        """The shape as the guest sets it up.

        netem's own limit also counts the packets that are on the wire, in their delay, so these are added to the
        queue: rate x delay in packets of the MTU, rounded up. Where packets are smaller more of them fit on the wire,
        and those beyond count against the queue.
        """
        on_wire = -(-self.rate_bit_s * self.delay_ns // (8 * mtu_bytes * 1_000_000_000))
        return {
            "rate_bit_s": self.rate_bit_s,
            "delay_ns": self.delay_ns,
            "limit_packets": self.queue_packets + on_wire,
            "queue_packets": self.queue_packets,
            "loss": self.loss.netem() if self.loss else None,
            **(self.jitter.orders() if self.jitter else {}),
        }


def followed(down: Shape | None, up: Shape | None, both: LinkTrace | None) -> dict[str, LinkTrace]:
    """Direction to the trace that it follows, of those that do; `both` is for shapes that have none of their own."""
    found = {way: shape.trace or both for way, shape in zip(DIRECTIONS, (down, up), strict=True) if shape}
    return {way: trace for way, trace in found.items() if trace}


class Path(Part):
    """One way between the hosts, over the node `middle`, which does all the shaping.

    `trace` is for the directions that have none of their own.
    """

    middle: Device
    # What every IPv4 host must take, to Ethernet's jumbo frames.
    mtu_bytes: Annotated[int, between(parse_size_bytes, "576 B", "9000 B"), Field(alias="mtu")]
    down: Shape
    up: Shape
    trace: LinkTrace | None = None

    def traces(self) -> dict[str, LinkTrace]:
        """Direction to the trace that it follows, of those that do."""
        return followed(self.down, self.up, self.trace)


class Topology(Part):
    """`hosts` are the sender and the receiver; down is from the first to the second."""

    name: Name
    title: Line
    hosts: tuple[Device, Device]
    # 8 is what the kernel's path manager takes (MPTCP_PM_ADDR_MAX).
    paths: Annotated[dict[Device, Path], Field(min_length=1, max_length=8)]

    @model_validator(mode="after")
    def check_nodes(self) -> Self:
        nodes = [*self.hosts, *(path.middle for path in self.paths.values())]
        twice = sorted({node for node in nodes if nodes.count(node) > 1})
        if twice:
            raise BadValue(f"several nodes are called {', '.join(twice)}", "a name of its own for each host and middle")
        return self

    @property
    def routers(self) -> tuple[str, ...]:
        """Nodes that forward and that the file names as such: none, each path has its own middle."""
        return ()

    def wires(self) -> dict[str, Path]:
        """What is shaped, by name."""
        return self.paths

    def ends(self) -> dict[str, tuple[str, str]]:
        """Path, which is one link, to the nodes that it joins."""
        return dict.fromkeys(self.paths, self.hosts)

    def middle(self, link: str) -> str:
        """The node in the middle of a path."""
        return self.paths[link].middle

    def routes(self) -> list[Route]:
        """All paths in order."""
        return [Route(name, (name,), self.hosts) for name in self.paths]
