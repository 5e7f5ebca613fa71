# SPDX-License-Identifier: Apache-2.0
"""`pathwarp selftests`."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pathwarp.base.complaints import BadValue, Complaint, Complaints, Exit, gather
from pathwarp.commands.options import TIME, option, read_names, read_number, read_source, shown
from pathwarp.model.catalogue import Catalogue, suggest
from pathwarp.model.load import ALL, load_variants

_MOST_CASES = 10_000

if TYPE_CHECKING:
    from pathwarp.measure.cases import Run
    from pathwarp.plan.selftest import Program, Selftest
    from pathwarp.prepare.programs import Programs


@click.command("selftests")
@option("variant", "Variants, comma-separated, or `all`.  [default: the one without patches]")
@option("tests", "Tests, comma-separated, or `all`.", default=ALL, show_default=True)
@option("seeds", "How many seeds.  [default: 1]")
@option("seed", "The first seed.  [default: 1]")
@option(TIME, "virtual or real.", default="virtual", show_default=True)
@option("kernel", "A folder with a kernel's source, in place of the packaged one.", type=click.Path(path_type=Path))
@option("noise", "Delay processes at system calls, by up to a time drawn from the seed: `5 ms,1in20,mptcp_connect`.")
@option("capture", "Have the packets of all interfaces.", is_flag=True)
@option("case", "Show what this case of one test and seed did.")
@option("minimise", "Find the least noise, up to the one given, at which the case fails.", is_flag=True)
@option("jobs", "Guests side by side, a CPU each.  [default: all CPUs that this process may use]")
@click.pass_obj
def command(
    catalogue: Catalogue,
    variant: str | None,
    tests: str,
    seeds: str | None,
    seed: str | None,
    time: str,
    kernel: Path | None,
    noise: str | None,
    capture: bool,
    case: str | None,
    minimise: bool,
    jobs: str | None,
) -> Exit:
    """Run the kernel's own tests of MPTCP and TCP on variants' kernels, and print which cases fail."""
    from pathwarp.model.backends.registry import BACKENDS, DEFAULT_BACKEND
    from pathwarp.plan.request import LARGEST_SEED, MOST_RUNS
    from pathwarp.plan.selftest import Noise, Selftest
    from pathwarp.prepare.kernel import UNPATCHED

    complaints: list[Complaint] = []
    cpus = len(os.sched_getaffinity(0))
    often = read_number("seeds", seeds, MOST_RUNS, complaints) or 1
    first = read_number("seed", seed, LARGEST_SEED, complaints) or 1
    workers = read_number("jobs", jobs, cpus, complaints) or cpus
    paces = BACKENDS[DEFAULT_BACKEND].paces
    if time not in paces:
        complaints.append(Complaint(TIME, f"unknown time {time[:40]!r}", ", ".join(paces)))
    number_of_case = read_number("case", case, _MOST_CASES, complaints)
    if number_of_case and (
        often > 1 or len(read_names(tests)) > 1 or len(read_names(variant)) > 1 or ALL in (tests, variant)
    ):
        complaints.append(Complaint("case", "is one of a single run", hint="name one test and one variant, and a seed"))
    if minimise and not (number_of_case and noise):
        complaints.append(Complaint("minimise", "is for a case and a noise", hint="give case=N and noise=LONGEST"))
    delays = None
    try:
        delays = Noise.read(noise) if noise else None
    except BadValue as bad:
        complaints.append(Complaint("noise", bad.what, bad.valid, bad.hint))
    source = read_source(kernel, complaints)
    variants = []
    with gather(complaints):
        variants = load_variants(catalogue, read_names(variant) or (UNPATCHED,))
    if complaints:
        raise Complaints(complaints)
    from pathwarp.prepare.prepare import ensure_selftests
    from pathwarp.prepare.programs import Programs

    programs = Programs(catalogue.root, source)
    if programs.is_current():
        _choose(programs, tests)
    ensure_selftests(catalogue.root, variants, source=source)
    chosen = _choose(programs, tests)
    from pathwarp.run.selftests import run_selftests

    sha256 = programs.sha256()
    runs = [
        Selftest(program, one, number, sha256, time, delays, capture, source)
        for program in chosen
        for one in variants
        for number in range(first, first + often)
    ]
    if minimise and number_of_case:
        return _minimise(catalogue, runs[0], number_of_case)
    failed = run_selftests(catalogue.root, runs, workers)
    return _report(catalogue, runs, failed, number_of_case)


def _choose(programs: "Programs", text: str) -> "list[Program]":
    """The tests of these names; Complaints for those that there are not."""
    there = programs.tests()
    names = tuple(there) if text == ALL else read_names(text) or tuple(there)
    unknown = [name for name in names if name not in there]
    if unknown:
        raise Complaints(
            Complaint("tests", f"there is no test {name[:40]!r}", ", ".join(there), suggest(name, tuple(there)))
            for name in unknown
        )
    return [there[name] for name in names]


def _read(catalogue: Catalogue, runs: "Sequence[Selftest]") -> "list[Run]":
    """What is sealed of these runs."""
    from pathwarp.measure.cases import read_run
    from pathwarp.results.sealed import is_whole, read_manifest

    read = []
    for run in runs:
        folder = catalogue.root / run.folder
        if is_whole(folder):
            wall_s = float(read_manifest(folder)["wall_s"])
            read.append(read_run(folder, run.program.name, run.variant.name, run.seed, wall_s))
    return read


def _report(catalogue: Catalogue, runs: "Sequence[Selftest]", failed: int, number: int | None) -> Exit:
    """Print the table of what is sealed of these runs; FAILED where a case or a guest failed."""
    from pathwarp.present.selftests import render, write_files

    read = _read(catalogue, runs)
    if not read:
        return Exit.FAILED
    home = catalogue.root / runs[0].folder.parents[2]
    write_files(read, home)
    click.echo(render(read, shown(home)), nl=False)
    if number:
        _show_case(read[0], number, catalogue.root / runs[0].folder)
    return Exit.FAILED if failed or any(run.failures for run in read) else Exit.DONE


def _show_case(run: "Run", number: int, folder: Path) -> None:
    """Print what the test said during a case, and put the packets of that time, where there are captures, beside the
    sealed folder. Complaints for a case that there is not.
    """
    from pathwarp.base.atomic import write_whole
    from pathwarp.wire.pcap import between, read

    window = run.window(number)
    if window is None:
        where, valid = f"{run.test} seed {run.seed}", f"1 to {len(run.cases)}"
        raise Complaints.one("case", f"{where} doesn't say when case {number} was", valid, code=Exit.FAILED)
    begin_s, end_s = window
    click.echo(f"\ncase {number}, {run.cases[number - 1].name}: {begin_s:.3f} to {end_s:.3f} s")
    for line in run.output:
        if begin_s <= line.at_s <= end_s:
            click.echo(f"  {line.at_s:12.6f}  {line.text}")
    captures = sorted((folder / "captures").glob("*.pcap"))
    place = folder.with_name(f"{folder.name}-case-{number}")
    for path in captures:
        packets = between(read(path), *(run.begin_ns + round(at_s * 1e9) for at_s in window))
        place.mkdir(exist_ok=True)
        write_whole(place / path.name, packets)
    if captures:
        click.echo(f"packets: {shown(place)}")


def _minimise(catalogue: Catalogue, run: "Selftest", number: int) -> Exit:
    """Find the least noise at which a case fails, between none and the run's, to a tenth: each step halves what is
    left of the scale, which is logarithmic. Complaints when the case doesn't fail with the run's noise.
    """
    from pathwarp.plan.selftest import LEAST_NOISE_NS
    from pathwarp.run.selftests import run_selftests

    def fails(most_ns: int) -> bool:
        assert run.noise, "what is to be minimised"
        tried = replace(run, noise=replace(run.noise, most_ns=most_ns))
        run_selftests(catalogue.root, [tried], 1)
        read = _read(catalogue, [tried])
        if not read:
            raise Complaints.one("minimise", f"{tried.title} did not get to its end", code=Exit.FAILED)
        failed = number in read[0].failures
        click.echo(f"{tried.noise}: case {number} {'fails' if failed else 'passes'}")
        return failed

    assert run.noise, "what is to be minimised"
    passes_ns, fails_ns = LEAST_NOISE_NS, run.noise.most_ns
    if not fails(fails_ns):
        raise Complaints.one("minimise", f"case {number} passes with this noise", hint="take more", code=Exit.FAILED)
    while fails_ns > passes_ns * 1.1:
        middle_ns = round((passes_ns * fails_ns) ** 0.5 / 1000) * 1000
        if fails(middle_ns):
            fails_ns = middle_ns
        else:
            passes_ns = middle_ns
    click.echo(f"least noise found at which case {number} fails: {fails_ns / 1e6:g} ms")
    return Exit.DONE
