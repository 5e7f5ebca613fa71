# SPDX-License-Identifier: Apache-2.0
"""Runs of the kernel's own tests: one test, variant and seed each."""

import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from pathwarp.base.complaints import BadValue, Complaints
from pathwarp.base.units import parse_duration_ns
from pathwarp.model.backends.registry import BACKENDS, DEFAULT_BACKEND
from pathwarp.model.catalogue import SELFTESTS
from pathwarp.model.kerneltree import KernelTree, kernel_name
from pathwarp.model.overrides import Override, label
from pathwarp.model.schema.variant import ResolvedVariant
from pathwarp.plan.kit import Kit

FORMAT = 1
ORDERS = "logs/selftest.json"
# What the kernel's own settings files give a test, by the guest's clock.
LIMIT_S = 1800
MOST_CASES = 10_000
_LEAST_DELAY_NS = 1000
LEAST_NOISE_NS, _MOST_NOISE_NS = 2000, 4_000_000_000
# The kernel knows a program by the first 15 characters of its name.
_NOISE = re.compile(
    r"(?P<most>[\d.]+\s*[a-z]+)(,\s*1in(?P<one_in>[1-9]\d{0,5}))?(,\s*(?P<programs>[a-z_][\w.-]{0,14}(\+[a-z_][\w.-]{0,14}){0,9}))?"
)


@dataclass(frozen=True)
class Program:
    """A test: `name` as users give it, the folder of its collection, and the file that is run there."""

    name: str
    folder: str
    file: str


@dataclass(frozen=True)
class Noise:
    """Delays of processes at their system calls, drawn from the run's seed: of one call in `one_in` on average, by up
    to `most_ns`, of the programs of these names, or of all.
    """

    most_ns: int
    one_in: int = 100
    programs: tuple[str, ...] = ()

    def __str__(self) -> str:
        of = f",{'+'.join(self.programs)}" if self.programs else ""
        return f"{self.most_ns / 1000:.10g}us,1in{self.one_in}{of}"

    @classmethod
    def read(cls, text: str) -> Self:
        """From `5 ms`, `5 ms,1in20` or `5 ms,1in20,mptcp_connect+ip`; BadValue for what is none."""
        match = _NOISE.fullmatch(text.strip())
        if match is None:
            raise BadValue(
                f"{text[:60]!r} is no noise", "LONGEST DELAY[,1inN][,PROGRAM+PROGRAM], as 5 ms,1in20,mptcp_connect"
            )
        most_ns = parse_duration_ns(match["most"].strip())
        if not LEAST_NOISE_NS <= most_ns <= _MOST_NOISE_NS:
            raise BadValue(f"{match['most'].strip()!r} is out of range", "2 us to 4 s")
        programs = tuple(match["programs"].split("+")) if match["programs"] else ()
        return cls(most_ns, int(match["one_in"] or cls.one_in), programs)

    @classmethod
    def of_option(cls, text: str | None) -> Self | None:
        """What the option of that name says, if anything; Complaints for what is none."""
        try:
            return cls.read(text) if text else None
        except BadValue as bad:
            raise Complaints.one("noise", bad.what, bad.valid, bad.hint) from None

    def parameter(self, seed: int) -> str:
        """The kernel's parameter."""
        return f"um.noise={seed}:{self.one_in}:{_LEAST_DELAY_NS}:{self.most_ns}:{','.join(self.programs)}"


@dataclass(frozen=True, eq=False)
class Selftest:
    """One run to be done. `programs` is the SHA-256 over the programs that the guest has; they, and the kernel, are of
    a user's own source where `tests_of` and `source` say so.
    """

    program: Program
    variant: ResolvedVariant
    seed: int
    programs: str
    time: str = "virtual"
    noise: Noise | None = None
    capture: bool = False
    source: KernelTree | None = None
    tests_of: KernelTree | None = None
    backend: str = DEFAULT_BACKEND

    @property
    def kit(self) -> Kit:
        """What its guest is booted with."""
        return Kit(SELFTESTS, "selftest.py", True, self.tests_of)

    @cached_property
    def folder(self) -> Path:
        """Where the result goes, relative to the project's folder."""
        chosen = {"time": "" if self.time == "virtual" else self.time}
        chosen |= {"noise": str(self.noise or "").replace(",", "-"), "capture": "1" if self.capture else ""}
        settings = [Override(path, text) for path, text in chosen.items() if text]
        name = label(SELFTESTS, settings, kernel=kernel_name(self.source))
        return Path("results", name, self.variant.name, self.program.name, f"seed-{self.seed:03d}")

    @property
    def title(self) -> str:
        """Which run it is, in a line."""
        return f"{self.program.name} {self.variant.name} seed {self.seed}"

    @property
    def parameters(self) -> tuple[str, ...]:
        """Where the kernel writes packets, and how it delays processes; as long without captures as with."""
        record = f"um.record={'/' if self.capture else '-'}mnt/lab/run/pathwarp/captures"
        return (record, self.noise.parameter(self.seed)) if self.noise else (record,)

    @property
    def virtual_s(self) -> float:
        """How long it may last by the guest's clock."""
        return LIMIT_S

    @property
    def time_mode(self) -> str:
        """How time passes in the guest."""
        return BACKENDS[self.backend].paces[self.time].mode

    def describe(self) -> dict[str, Any]:
        """What its manifest says of it beside variant, seed, backend and time."""
        return {"selftest": vars(self.program), "programs_sha256": self.programs}


def orders(run: Selftest, release: str) -> dict[str, bytes]:
    """File, relative to the run folder, to its content."""
    plan = {
        "format": FORMAT,
        "release": release,
        "variant": run.variant.name,
        "seed": run.seed,
        "folder": run.program.folder,
        "file": run.program.file,
        "sysctls": run.variant.sysctls,
        "limit_s": LIMIT_S,
        "programs_sha256": run.programs,
    }
    return {ORDERS: json.dumps(plan, sort_keys=True).encode()}
