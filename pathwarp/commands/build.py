# SPDX-License-Identifier: Apache-2.0
"""`pathwarp build`."""

import click

from pathwarp.base.complaints import Complaints, gather
from pathwarp.commands.options import BACKEND, option, read_names
from pathwarp.model.backends.registry import backend_complaint
from pathwarp.model.catalogue import Catalogue
from pathwarp.model.load import ALL, load_variants


@click.group("build")
def command() -> None:
    """Build what trials need; `run` does it by itself."""


@command.command()
@option("variant", "Variants, comma-separated.  [default: all]")
@BACKEND
@click.pass_obj
def kernels(catalogue: Catalogue, variant: str | None, backend: str) -> None:
    """Build the variants' kernels that are not up to date."""
    from pathwarp.prepare.prepare import prepare_kernels

    complaints = list(backend_complaint(backend))
    variants = []
    with gather(complaints):
        variants = load_variants(catalogue, read_names(variant) or (ALL,))
    if complaints:
        raise Complaints(complaints)
    prepare_kernels(catalogue.root, variants, backend)


@command.command()
@option("variant", "Variants, comma-separated.  [default: that of vms/vm.yaml]")
@click.pass_obj
def vm(catalogue: Catalogue, variant: str | None) -> None:
    """Prepare all that `vagrant up` needs for the variants' virtual machines."""
    from pathwarp.prepare.prepare import ensure
    from pathwarp.run.guests.machine import VmSettings

    names = read_names(variant) or (VmSettings.of(catalogue.root).variant,)
    ensure(catalogue.root, load_variants(catalogue, names), "vm")


@command.command()
@click.pass_obj
def tests(catalogue: Catalogue) -> None:
    """Have what the project's own tests need of the host."""
    from pathwarp.prepare.prepare import prepare_tests

    prepare_tests(catalogue.root)


@command.command()
@click.pass_obj
def lab(catalogue: Catalogue) -> None:
    """Build the guests' root file system where it is not up to date."""
    from pathwarp.prepare.prepare import prepare_lab

    prepare_lab(catalogue.root)


@command.command()
@option("variant", "Variants, comma-separated.  [default: all]")
@click.pass_obj
def selftests(catalogue: Catalogue, variant: str | None) -> None:
    """Prepare what the kernel's own tests need: programs, lab root, and the variants' kernels for them."""
    from pathwarp.prepare.prepare import ensure_selftests, prepare_programs
    from pathwarp.prepare.programs import Programs

    variants = load_variants(catalogue, read_names(variant) or (ALL,))
    prepare_programs(Programs(catalogue.root))
    ensure_selftests(catalogue.root, variants)
