# SPDX-License-Identifier: Apache-2.0
"""The command line that runs trials, as hints give it to the user."""

import shlex
from collections.abc import Iterable

from pathwarp.model.backends.registry import DEFAULT_BACKEND
from pathwarp.model.kerneltree import OPTION as KERNEL
from pathwarp.model.kerneltree import KernelTree
from pathwarp.model.overrides import OPTION, Override


def make_command(
    scenario: str,
    variants: Iterable[str],
    traffics: Iterable[str],
    overrides: Iterable[Override],
    backend: str,
    at: str = "",
    source: KernelTree | None = None,
    **numbers: int,
) -> str:
    """`make scenario=cut variant=tlp-mp traffic=docs seed=3 'set=duration=9 s'`, ready for a shell."""
    words = {"scenario": scenario, "variant": ",".join(variants), "traffic": ",".join(traffics)}
    words |= {name: str(number) for name, number in numbers.items()}
    words |= {} if backend == DEFAULT_BACKEND else {"backend": backend}
    words |= {"at": at} if at else {}
    words |= {KERNEL: str(source.folder)} if source else {}
    texts = ",".join(map(str, overrides))
    words |= {OPTION: texts} if texts else {}
    return shlex.join(["make", *(f"{name}={word}" for name, word in words.items())])
