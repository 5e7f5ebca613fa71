# SPDX-License-Identifier: Apache-2.0
"""Models of the two recipes: `kernels/base.yaml` and `vms/lab.yaml`."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from pathwarp.base.yamlfile import read
from pathwarp.model.schema.common import Line, Name, Part
from pathwarp.model.schema.explain import read_model

KERNELS = "kernels/base.yaml"
LAB = "vms/lab.yaml"

Lines = Annotated[tuple[Line, ...], Field(min_length=1)]
Paths = Annotated[
    tuple[Annotated[str, Field(max_length=1000, pattern=r"^(/[\w.*-]{1,200})+$")], ...], Field(min_length=1)
]


class KernelBackend(Part):
    """How a backend's kernel is made: `arch` as make knows it, the file that make leaves, fragments of configuration.

    `config` are names of files in `kernels/config`, without their ending; a later one wins. `leave_out` are names of
    files in `kernels/unneeded`, with tar's patterns of what is not unpacked.
    """

    arch: Name
    binary: Line
    config: Annotated[tuple[Name, ...], Field(min_length=1)]
    leave_out: Annotated[tuple[Name, ...], Field(alias="leave-out")] = ()


class KernelRecipe(Part):
    """`tested` is the version that the patches were made for."""

    package: Line
    tested: Line
    built_at: Annotated[Line, Field(alias="built-at")]
    backends: Annotated[dict[str, KernelBackend], Field(min_length=1)]


class LabRecipe(Part):
    """`folders` and `needs` are paths in the lab root; `leave_out` are dpkg's patterns."""

    suite: Name
    packages: Lines
    leave_out: Annotated[Paths, Field(alias="leave-out")]
    folders: Paths
    needs: Paths


def read_kernel_recipe(root: Path) -> KernelRecipe:
    """Complaints for all that is wrong with the file."""
    return read_model(KernelRecipe, read(root / KERNELS, root))


def read_lab_recipe(root: Path) -> LabRecipe:
    """Complaints for all that is wrong with the file."""
    return read_model(LabRecipe, read(root / LAB, root))
