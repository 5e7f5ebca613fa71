# SPDX-License-Identifier: Apache-2.0
"""`pathwarp bisect`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pathwarp.base.complaints import Complaint, Complaints, Exit, gather
from pathwarp.commands.options import SELECTION, option
from pathwarp.model.catalogue import Catalogue

if TYPE_CHECKING:
    from pathwarp.compare.bisect.history import Range
    from pathwarp.compare.bisect.judges import Judge


@click.command("bisect")
@option("tree", "A git checkout of the kernel's source; it is not touched.", type=click.Path(path_type=Path))
@option("good", "A revision that is as it should be.")
@option("bad", "A later one that is not.")
@option("test", "One of the kernel's own tests, which the bad revision fails.")
@option("case", "A case of the test.  [default: any]")
@option("noise", "As for `selftests`.")
@option("metric", "With a scenario: the key of metrics.json that differs.  [default: the scenario's first]")
@SELECTION
@option("runs", "How many seeds.  [default: 1]")
@option("seed", "The first seed.  [default: 1]")
@option("jobs", "Guests side by side, a CPU each.  [default: all CPUs that this process may use]")
@click.pass_obj
def command(
    catalogue: Catalogue,
    tree: Path | None,
    good: str | None,
    bad: str | None,
    test: str | None,
    case: str | None,
    noise: str | None,
    metric: str | None,
    runs: str | None,
    seed: str | None,
    jobs: str | None,
    **chosen: Any,
) -> Exit:
    """Find the commit of a kernel's history with which a test began to fail, or a scenario's metric changed.

    Each step is a kernel of its own with guests of its own: what shows is what the commit does, not what the machine
    was busy with.
    """
    complaints: list[Complaint] = []
    given = {"tree": tree, "good": good, "bad": bad}
    complaints += [Complaint(name, "is needed") for name, value in given.items() if not value]
    if bool(test) == bool(chosen["scenario"]):
        complaints.append(Complaint("test", "what is to be observed?", "either test=NAME or scenario=NAME"))
    if chosen["kernel"]:
        complaints.append(Complaint("kernel", "has no meaning here", hint="the kernels are those of tree=FOLDER"))
    left = {name: value for name, value in chosen.items() if name not in ("scenario", "variant", "kernel")}
    others = {"metric": metric, **left} if test else {"case": case, "noise": noise}
    whose = "scenario" if test else "test"
    complaints += [Complaint(name, f"is for a {whose}") for name, value in others.items() if value]
    ends: Range | None = None
    judge: Judge | None = None
    if not complaints:
        from pathwarp.commands.judges import of_scenario, of_test
        from pathwarp.compare.bisect import history

        with gather(complaints):
            ends = history.Range.read(tree or Path(), good or "", bad or "")
        with gather(complaints):
            if test:
                judge = of_test(catalogue, test, case, noise, chosen["variant"], runs, seed, jobs)
            else:
                judge = of_scenario(catalogue, metric, runs, seed, jobs, chosen)
    if ends is None or judge is None:
        raise Complaints(complaints)
    from pathwarp.compare.bisect.search import bisect

    bisect(catalogue.root, ends, judge, click.echo)
    return Exit.DONE
