# SPDX-License-Identifier: Apache-2.0
"""Model of a link's jitter: what each packet's delay is drawn from."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from pathwarp.base.complaints import BadValue
from pathwarp.base.units import parse_duration_ns
from pathwarp.model.schema.common import Fraction, Part, between

# How far below the mean the lowest draw is, in spreads; pathwarp/guest/draws.py has the distributions.
LOWEST = {"normal": 3.7, "uniform": 1.74, "pareto": 0.62}
# netem takes a deviation of 2^31 ns at most, and a draw of the Pareto distribution can be 5.7 spreads.
_MOST_PARETO_NS = 370_000_000


def check_memory(fraction: float) -> float:
    if fraction > 0.99:
        raise BadValue("is out of range", "0 % to 99 %", "with 100 % no packet would have a delay of its own")
    return fraction


class Jitter(Part):
    """Each packet's delay is the link's plus a draw of mean 0 and standard deviation `spread`.

    With the probability `memory` a packet has the draw of the one before it. Without `reorder` no packet arrives before
    one that was sent before it, whatever its draw: it waits for that.
    """

    spread_ns: Annotated[int, between(parse_duration_ns, "0 s", "1 s"), Field(alias="spread")]
    kind: Literal["normal", "uniform", "pareto"]
    memory_fraction: Annotated[Fraction, AfterValidator(check_memory), Field(alias="memory")] = 0.0
    reorder: Literal["no", "yes"] = "no"

    def check_delay(self, delay_ns: int) -> None:
        """BadValue for a delay that some draws would make negative, and for draws that netem would cut."""
        if self.kind == "pareto" and self.spread_ns > _MOST_PARETO_NS:
            raise BadValue("has a jitter that netem would cut", f"a spread of at most {_MOST_PARETO_NS // 10**6} ms")
        if self.spread_ns * LOWEST[self.kind] > delay_ns:
            most_us = int(delay_ns / LOWEST[self.kind] / 1000)
            raise BadValue(
                f"has a jitter that makes delays negative: a draw can be {LOWEST[self.kind]:g} spreads below the mean",
                f"a spread of at most {most_us} us with this delay",
                "raise the delay, or lower the spread",
            )

    def orders(self) -> dict[str, object]:
        """What a shape says of it to the guest; nothing where all draws are 0."""
        if not self.spread_ns:
            return {}
        draws = {"spread_ns": self.spread_ns, "kind": self.kind, "memory": self.memory_fraction}
        return {"jitter": {**draws, "reorder": self.reorder == "yes"}}
