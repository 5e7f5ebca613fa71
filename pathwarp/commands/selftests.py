# SPDX-License-Identifier: Apache-2.0
"""`pathwarp selftests`."""

import os
from pathlib import Path

import click

from pathwarp.base.complaints import Complaint, Complaints, Exit, gather
from pathwarp.commands.options import TIME, option, read_names, read_number, read_source, shown
from pathwarp.model.catalogue import Catalogue
from pathwarp.model.load import ALL, load_variants


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
    from pathwarp.plan.selftest import MOST_CASES, Noise, Selftest
    from pathwarp.prepare.kernel import UNPATCHED

    complaints: list[Complaint] = []
    cpus = len(os.sched_getaffinity(0))
    often = read_number("seeds", seeds, MOST_RUNS, complaints) or 1
    first = read_number("seed", seed, LARGEST_SEED, complaints) or 1
    workers = read_number("jobs", jobs, cpus, complaints) or cpus
    paces = BACKENDS[DEFAULT_BACKEND].paces
    if time not in paces:
        complaints.append(Complaint(TIME, f"unknown time {time[:40]!r}", ", ".join(paces)))
    number_of_case = read_number("case", case, MOST_CASES, complaints)
    if number_of_case and (
        often > 1 or len(read_names(tests)) > 1 or len(read_names(variant)) > 1 or ALL in (tests, variant)
    ):
        complaints.append(Complaint("case", "is one of a single run", hint="name one test and one variant, and a seed"))
    if minimise and not (number_of_case and noise):
        complaints.append(Complaint("minimise", "is for a case and a noise", hint="give case=N and noise=LONGEST"))
    delays = None
    with gather(complaints):
        delays = Noise.of_option(noise)
    source = read_source(kernel, complaints)
    variants = []
    with gather(complaints):
        variants = load_variants(catalogue, read_names(variant) or (UNPATCHED,))
    if complaints:
        raise Complaints(complaints)
    from pathwarp.prepare.prepare import prepare_programs
    from pathwarp.prepare.programs import Programs

    programs = Programs(catalogue.root, source)
    names = () if tests == ALL else read_names(tests)
    if programs.is_current():
        programs.choose(names)
    prepare_programs(programs)
    sha256 = programs.sha256()
    runs = [
        Selftest(program, one, number, sha256, time, delays, capture, source, source)
        for program in programs.choose(names)
        for one in variants
        for number in range(first, first + often)
    ]
    if minimise and number_of_case:
        from pathwarp.compare.leastnoise import find_least

        find_least(catalogue.root, runs[0], number_of_case)
        return Exit.DONE
    from pathwarp.measure.cases import read_sealed
    from pathwarp.present.case import show_case
    from pathwarp.present.selftests import render, write_files
    from pathwarp.run.selftests import run_selftests

    failed = run_selftests(catalogue.root, runs, workers)
    read = [sealed for run in runs if (sealed := read_sealed(catalogue.root, run))]
    if not read:
        return Exit.FAILED
    home = catalogue.root / runs[0].folder.parents[2]
    write_files(read, home)
    click.echo(render(read, shown(home)), nl=False)
    if number_of_case:
        lines, packets = show_case(read[0], number_of_case, catalogue.root / runs[0].folder)
        click.echo("\n".join(["", *lines, *([f"packets: {shown(packets)}"] if packets else [])]))
    return Exit.FAILED if failed or any(run.failures for run in read) else Exit.DONE
