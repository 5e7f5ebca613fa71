# SPDX-License-Identifier: Apache-2.0
"""How the kernel's own tests ended: the table, and its cases for other programs as TAP and JUnit files."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from statistics import median

from pathwarp.base.atomic import write_whole
from pathwarp.measure.cases import Run, State
from pathwarp.prepare.kernel import UNPATCHED
from pathwarp.present.numbers import number
from pathwarp.present.table import aligned

TAP, JUNIT = "selftests.tap", "selftests.xml"
_HEAD = ["test", "variant", "runs", "cases", "passed", "failed", "skipped", "guest's clock, s", "host's clock, s"]
_MOST_SEEDS = 12

Tally = dict[str, tuple[list[int], list[int]]]


def render(runs: Sequence[Run], path: Path | str) -> str:
    """A row per test and variant; then each case that failed or was skipped, with its seeds. `path`: the results'."""
    rows, notes = [_HEAD], list[str]()
    groups = _grouped(runs)
    for (test, variant), own in groups.items():
        cases = [case for run in own for case in run.cases]
        counts = [str(sum(case.state is state for case in cases)) for state in State]
        clocks = [number(median(run.took_s for run in own), 3), number(median(run.wall_s for run in own), 1)]
        rows.append([test, variant, str(len(own)), str(len(cases)), *counts, *clocks])
        notes += _failures(test, variant, own, groups.get((test, UNPATCHED), ()))
    for test, together in groupby(groups, key=lambda group: group[0]):
        notes += _skips(test, [run for group in together for run in groups[group]])
    lines = ["the kernel's own tests; clocks are medians over the runs", "", *aligned(rows), "", *notes]
    return "\n".join([*lines, f"results: {path}", ""])


def write_files(runs: Sequence[Run], folder: Path) -> None:
    """Write all cases as TAP and as JUnit into `folder`; OSError where that can't be."""
    from junitparser import Failure, JUnitXml, Skipped, TestCase, TestSuite

    lines, number_of_line = list[str](), 0
    document = JUnitXml("selftests")
    for run in runs:
        suite = TestSuite(f"{run.variant}: {run.test} seed {run.seed}")
        for case in run.cases:
            number_of_line += 1
            result = "not ok" if case.state is State.FAILED else "ok"
            why = f" # SKIP {case.note}".rstrip() if case.state is State.SKIPPED else ""
            lines.append(f"{result} {number_of_line} - {suite.name}: {case.name}{why}")
            entry = TestCase(case.name, f"{run.variant}.{run.test}.seed-{run.seed}", (case.took_ms or 0) / 1000)
            if case.state is State.FAILED:
                entry.result = [Failure(case.note or "failed")]
            elif case.state is State.SKIPPED:
                entry.result = [Skipped(case.note or "skipped")]
            suite.add_testcase(entry)
        document.add_testsuite(suite)
    write_whole(folder / TAP, "\n".join(["TAP version 13", f"1..{number_of_line}", *lines, ""]))
    write_whole(folder / JUNIT, document.tostring())


def _grouped(runs: Iterable[Run]) -> dict[tuple[str, str], list[Run]]:
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.test, run.variant), []).append(run)
    return groups


def _tally(runs: Iterable[Run]) -> Tally:
    """Case to the seeds for which it failed and those for which it was told at all."""
    tally: Tally = {}
    for run in runs:
        for case in run.cases:
            failed, told = tally.setdefault(case.name, ([], []))
            told.append(run.seed)
            if case.state is State.FAILED:
                failed.append(run.seed)
    return tally


def _failures(test: str, variant: str, runs: Sequence[Run], unpatched: Sequence[Run]) -> list[str]:
    """A line per case that failed: always, or for which share of the seeds; and what the unpatched kernel's does."""
    from scipy.stats import binomtest, fisher_exact

    known = {case.name: case for run in runs for case in run.cases if case.known}
    before = _tally(unpatched) if variant != UNPATCHED else {}
    lines = []
    for name, (failed, told) in _tally(runs).items():
        if not failed:
            continue
        parts = [f"{variant}: {test}: {name}:"]
        if len(failed) == len(told):
            parts.append(f"fails, {len(told)} of {len(told)} seeds")
        else:
            low, high = binomtest(len(failed), len(told)).proportion_ci(method="exact")
            share = f"{number(100 * len(failed) / len(told), 1)} % ({number(100 * low, 1)} to {number(100 * high, 1)})"
            parts.append(f"sensitive, {len(failed)} of {len(told)} seeds, {share}: {_some(failed)}")
        if name in known:
            parts.append("; the kernel's developers have marked it as flaky")
        if name in before:
            others, all_of_them = map(len, before[name])
            table = [[len(failed), len(told) - len(failed)], [others, all_of_them - others]]
            p = fisher_exact(table, alternative="greater").pvalue
            parts.append(f"; {UNPATCHED} {others} of {all_of_them}, p = {p:.2g}")
        lines.append(" ".join(parts).replace(" ;", ";"))
    return lines


def _skips(test: str, runs: Sequence[Run]) -> list[str]:
    """A line per reason for which cases were skipped."""
    reasons: dict[str, dict[str, None]] = {}
    for run in runs:
        for case in run.cases:
            if case.state is State.SKIPPED:
                reasons.setdefault(case.note, {})[case.name] = None
    return [
        f"skipped: {test}: {', '.join(names)}{f': {reason}' if reason else ''}" for reason, names in reasons.items()
    ]


def _some(seeds: Sequence[int]) -> str:
    shown = ", ".join(map(str, seeds[:_MOST_SEEDS]))
    return f"seeds {shown}, …" if len(seeds) > _MOST_SEEDS else f"seed{'' if len(seeds) == 1 else 's'} {shown}"
