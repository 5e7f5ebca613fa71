# SPDX-License-Identifier: Apache-2.0
"""Have everything that trials need: look what is up to date, and let Ansible make what is not.

When nothing is missing this takes milliseconds, and Ansible is not even started.
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from pathwarp.base.complaints import Complaint, Complaints, gather
from pathwarp.base.engine import ENGINE
from pathwarp.model.backends.backend import Backend
from pathwarp.model.backends.registry import BACKENDS, DEFAULT_BACKEND
from pathwarp.model.catalogue import SELFTESTS
from pathwarp.model.kerneltree import KernelTree
from pathwarp.model.schema.variant import ResolvedVariant
from pathwarp.prepare import box, lab
from pathwarp.prepare.base import find_base
from pathwarp.prepare.kernel import Kernel, group_by_kernel
from pathwarp.prepare.lock import building
from pathwarp.prepare.programs import Programs
from pathwarp.prepare.recipe import LAB

# What the tests judge the project's own files with, beside requirements-test.txt.
TEST_PROGRAMS = ("corelist", "shellcheck")


@dataclass(frozen=True)
class Parts:
    """What is to be there: kernels of a backend of kernels/base.yaml, the lab root of that name, what `guests` run on
    needs of the host, and the programs of the kernel's own tests. Kernels are made from `source`, if not from the
    packaged one.
    """

    kernels: str
    lab: str = ""
    guests: Backend | None = None
    programs: Programs | None = None
    source: KernelTree | None = None

    def groups(self, root: Path, variants: Sequence[ResolvedVariant]) -> list[tuple[Kernel, list[ResolvedVariant]]]:
        """The kernels of the variants, with those that take each."""
        return group_by_kernel(root, variants, self.kernels, self.source)


def ensure(
    root: Path,
    variants: Sequence[ResolvedVariant],
    backend: str = DEFAULT_BACKEND,
    source: KernelTree | None = None,
) -> None:
    """Prepare the lab root, the variants' kernels and what their guests run on.

    Complaints for wrong recipes and series, or for a failed build.
    """
    _prepare(root, variants, Parts(backend, LAB, BACKENDS[backend], source=source))


def ensure_selftests(
    root: Path,
    variants: Sequence[ResolvedVariant],
    backend: str = DEFAULT_BACKEND,
    source: KernelTree | None = None,
) -> None:
    """Prepare what the kernel's own tests need beside their programs: the lab root, and the variants' kernels.

    Complaints as of `ensure`.
    """
    _prepare(root, variants, Parts(SELFTESTS, SELFTESTS, BACKENDS[backend], source=source))


def prepare_programs(programs: Programs) -> None:
    """Prepare the programs of the kernel's own tests; Complaints as of `ensure`."""
    _prepare(programs.root, (), Parts(SELFTESTS, programs=programs, source=programs.source))


def prepare_kernels(root: Path, variants: Sequence[ResolvedVariant], backend: str = DEFAULT_BACKEND) -> None:
    """Prepare the variants' kernels alone; Complaints as of `ensure`."""
    _prepare(root, variants, Parts(backend))


def prepare_lab(root: Path) -> None:
    """Prepare the lab root alone; Complaints as of `ensure`."""
    _prepare(root, (), Parts(DEFAULT_BACKEND, LAB, BACKENDS[DEFAULT_BACKEND]))


def prepare_tests(root: Path) -> None:
    """Prepare the host for the project's own tests; Complaints as of `ensure`."""
    if not _has(TEST_PROGRAMS):
        with building(root):
            _run_playbook(root, ["host"], {"project": str(root), "with_tests": True})


def _prepare(root: Path, variants: Sequence[ResolvedVariant], parts: Parts) -> None:
    """Have the parts made that are missing, and say what kernels of a user's own source go without."""
    _make_stale(root, variants, parts)
    if parts.source and variants:
        for line in find_base(root, parts.kernels, parts.source).left_out:
            click.echo(f"pathwarp: left out: {line}", err=True)


def _make_stale(root: Path, variants: Sequence[ResolvedVariant], parts: Parts) -> None:
    if not _stale(root, variants, parts):
        return
    with building(root):
        # Someone else may have made it while this one waited.
        tags = _stale(root, variants, parts)
        if not tags:
            return
        shutil.rmtree(root / "build" / "work", ignore_errors=True)
        tags = list(dict.fromkeys(["host", *tags]))
        stale = [group for kernel, group in parts.groups(root, variants) if not kernel.is_current()]
        names = [variant.name for group in stale for variant in group]
        started = time.monotonic()
        source = parts.source.to_json() if parts.source else ""
        what: dict[str, object] = {
            "project": str(root),
            "variants": names,
            "backend": parts.kernels,
            "lab": parts.lab,
            "source": source,
        }
        _run_playbook(root, tags, what)
        if stale:
            taken = describe_time(time.monotonic() - started)
            kernels, whose = _count(len(stale), "kernel"), _count(len(names), "variant")
            click.echo(f"pathwarp: {kernels} for {whose} in {taken}", err=True)


def _stale(root: Path, variants: Sequence[ResolvedVariant], parts: Parts) -> list[str]:
    """The playbooks' tags of what is missing or out of date."""
    stale: dict[str, None] = {}
    complaints: list[Complaint] = []
    with gather(complaints):
        if parts.lab and not lab.is_current(root, parts.lab):
            stale["lab"] = None
        if parts.guests:
            if not _has(parts.guests.programs):
                stale["host"] = None
            if parts.guests.has_box and ("lab" in stale or not box.is_current(root)):
                stale["box"] = None
    with gather(complaints):
        if parts.programs and not parts.programs.is_current():
            stale["programs"] = None
    with gather(complaints):
        if not all(kernel.is_current() for kernel, _ in parts.groups(root, variants)):
            stale["kernels"] = None
    if complaints:
        raise Complaints(complaints)
    return list(stale)


def describe_time(seconds: float) -> str:
    """A span in words for people: `41 s`, `6 min 12 s`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _has(programs: Sequence[str]) -> bool:
    return all(shutil.which(program, path=_path()) for program in programs)


def _path() -> str:
    """Where programs are: Debian gives ordinary users no /usr/sbin, which has some that they may well run."""
    return f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"


def _run_playbook(root: Path, tags: Sequence[str], variables: dict[str, object]) -> None:
    from pathwarp.prepare.ansible import run

    # The user's own settings of Ansible, and of the make that called, are meant for other things.
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("ANSIBLE_", "MAKE", "MFLAGS"))
    }
    environment["ANSIBLE_CONFIG"] = str(ENGINE / "playbooks" / "ansible.cfg")
    environment["ANSIBLE_HOME"] = environment["ANSIBLE_REMOTE_TEMP"] = str(root / "build" / "ansible")
    environment["ANSIBLE_NOCOLOR"] = "true"
    environment["PATH"] = _path()
    environment["LC_ALL"] = "C.UTF-8"  # Ansible refuses languages that aren't in UTF-8
    command = [sys.executable, "-m", "ansible", "playbook", f"--tags={','.join(tags)}"]
    command += [f"--extra-vars={json.dumps(variables)}", str(ENGINE / "playbooks" / "site.yml")]
    click.echo(f"pathwarp: preparing {', '.join(tags)}; all output is in build/logs", err=True)
    run(command, root, environment, root / "build" / "logs" / "ansible.log")
