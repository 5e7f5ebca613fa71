# SPDX-License-Identifier: Apache-2.0
"""The least noise at which a case of one of the kernel's own tests fails."""

from dataclasses import replace
from pathlib import Path

import click

from pathwarp.base.complaints import Complaints, Exit
from pathwarp.measure.cases import State, read_sealed
from pathwarp.plan.selftest import LEAST_NOISE_NS, Selftest
from pathwarp.run.selftests import run_selftests

# How much longer the least delay at which the case failed may be than one at which it passed.
_CLOSE = 1.1


def find_least(root: Path, run: Selftest, number: int) -> int:
    """Find the longest delay, in ns, of the least noise up to the run's at which case `number` fails, and say each
    step: it halves what is left of the scale, which is logarithmic.

    Complaints when the case doesn't fail with the run's noise, or a run doesn't get to its end.
    """
    noise = run.noise
    assert noise, "what is to be minimised"

    def fails(most_ns: int) -> bool:
        tried = replace(run, noise=replace(noise, most_ns=most_ns))
        ended = run_selftests(root, [tried], 1) == 0
        sealed = read_sealed(root, tried) if ended else None
        if sealed is None:
            raise Complaints.one("minimise", f"{tried.title} did not get to its end", code=Exit.FAILED)
        failed = sealed.case(number).state is State.FAILED
        click.echo(f"{tried.noise}: case {number} {'fails' if failed else 'passes'}")
        return failed

    passes_ns, fails_ns = LEAST_NOISE_NS, noise.most_ns
    if not fails(fails_ns):
        raise Complaints.one("minimise", f"case {number} passes with this noise", hint="take more", code=Exit.FAILED)
    while fails_ns > passes_ns * _CLOSE:
        middle_ns = round((passes_ns * fails_ns) ** 0.5 / 1000) * 1000
        if middle_ns in (passes_ns, fails_ns):
            break
        if fails(middle_ns):
            fails_ns = middle_ns
        else:
            passes_ns = middle_ns
    click.echo(f"least noise found at which case {number} fails: {fails_ns / 1e6:g} ms")
    return fails_ns
