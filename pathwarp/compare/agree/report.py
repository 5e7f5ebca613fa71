# SPDX-License-Identifier: Apache-2.0
"""The table of how far the ways differ, and what that may rest on."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from pathwarp.compare.agree.quantities import Quantities
from pathwarp.compare.agree.ways import WAYS
from pathwarp.present.numbers import number
from pathwarp.present.stats import median_of
from pathwarp.present.table import NONE, aligned
from pathwarp.results.reading import TrialResult

_DECIMALS = 2


def render(variant: str, traffic: str, found: Mapping[str, Quantities]) -> str:
    """A row for each quantity: its median in virtual time, and for each other way the median of the differences in
    pairs with its interval. `found` is by the name of the way.
    """
    first, *others = WAYS
    head = ["quantity", "n", f"{first.name}, median"]
    for way in others:
        head += [f"{way.name} - {first.name}", "95 % interval"]
    rows = [
        list(_row(name, values, [found[way.name].get(name, {}) for way in others]))
        for name, values in found[first.name].items()
    ]
    return "\n".join([f"{variant}, {traffic}", "", *aligned([head, *rows])]) + "\n"


def _row(name: str, values: Mapping, others: Sequence[Mapping]) -> Iterator[str]:
    yield from (name, str(len(values)))
    yield number(median(values.values()), _DECIMALS) if values else NONE
    for other in others:
        estimate = median_of([other[key] - value for key, value in values.items() if key in other])
        yield number(estimate.value, _DECIMALS, sign=True) if estimate else NONE
        bounds = (estimate.bounds if estimate else None) or ()
        yield " to ".join(number(bound, _DECIMALS, sign=True) for bound in bounds) or NONE


def machines(trials: Sequence[TrialResult]) -> str:
    """What those of the trials that were in virtual machines ran on, in a line."""
    found = [trial.manifest["machine"] for trial in trials if "machine" in trial.manifest]
    kinds = {machine["accelerator"]: machine["emulator"] for machine in found}
    words = {"kvm": "KVM", "qemu": "software emulation of the CPU, tens of times slower than the CPU itself"}
    return "; ".join(f"virtual machines: {words[kind]} ({emulator})" for kind, emulator in kinds.items())
