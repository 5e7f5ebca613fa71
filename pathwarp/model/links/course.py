# SPDX-License-Identifier: Apache-2.0
"""The course of a link: what one direction of a path does from which instant on, whatever file that came from."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pathwarp.model.schema.topology import Loss, Shape


class Step(NamedTuple):
    """The values from `at_ns` on, counted from the start of the flow; None leaves the topology's.

    `hold_ns` is instead of a rate: packets wait, but for one that leaves in that time.
    """

    at_ns: int
    rate_bit_s: int | None = None
    delay_ns: int | None = None
    loss_fraction: float | None = None
    hold_ns: int | None = None

    def apply(self, shape: Shape) -> Shape:
        """`shape` with the step's values. Losses are independent of each other, as the files know no bursts."""
        values: dict[str, object] = {"rate_bit_s": self.rate_bit_s, "delay_ns": self.delay_ns}
        if self.loss_fraction is not None:
            values["loss"] = Loss.model_construct(mean_fraction=self.loss_fraction, burst_packets=None)
        return shape.model_copy(update={name: value for name, value in values.items() if value is not None})


@dataclass(frozen=True)
class Course:
    """Steps in rising order; without `end_ns` the course goes on for ever."""

    steps: tuple[Step, ...]
    end_ns: int | None = None

    @classmethod
    def of(cls, steps: Iterable[Step], end_ns: int | None = None) -> "Course":
        """A course without the steps that change nothing."""
        kept: list[Step] = []
        for step in steps:
            if not kept or kept[-1][1:] != step[1:]:
                kept.append(step)
        return cls(tuple(kept), end_ns)

    @cached_property
    def instants_ns(self) -> list[int]:
        return [step.at_ns for step in self.steps]

    def at(self, instant_ns: int) -> Step:
        """The step in force; before the first one, a step that leaves everything."""
        place = bisect_right(self.instants_ns, instant_ns)
        return self.steps[place - 1] if place else Step(0)
