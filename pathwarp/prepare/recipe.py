# SPDX-License-Identifier: Apache-2.0
"""Models of the recipes: of kernels, `kernels/base.yaml`, and of lab roots, `vms/lab.yaml` and its like."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from pathwarp.base.complaints import BadValue
from pathwarp.base.yamlfile import read
from pathwarp.model.schema.common import Line, Name, Part
from pathwarp.model.schema.explain import read_model

KERNELS = "kernels/base.yaml"
# The lab root of trials.
LAB = "lab"

Lines = Annotated[tuple[Line, ...], Field(min_length=1)]
Paths = Annotated[
    tuple[Annotated[str, Field(max_length=1000, pattern=r"^(/[\w.*-]{1,200})+$")], ...], Field(min_length=1)
]


class KernelBackend(Part):
    """How a backend's kernel is made: `arch` as make knows it, the file that make leaves, fragments of configuration.

    `config` are names of files in `kernels/config`, without their ending; a later one wins. `leave_out` are names of
    files in `kernels/unneeded`, with tar's patterns of what is not unpacked. With `on`, the base begins as a copy of
    that backend's, with its configuration, and `unpack` are names of files in `kernels/needed`, with patterns of what
    of the source comes to it.
    """

    arch: Name
    binary: Line
    config: Annotated[tuple[Name, ...], Field(min_length=1)]
    leave_out: Annotated[tuple[Name, ...], Field(alias="leave-out")] = ()
    on: Name | None = None
    unpack: tuple[Name, ...] = ()


class KernelRecipe(Part):
    """`tested` is the version that the patches were made for."""

    package: Line
    tested: Line
    built_at: Annotated[Line, Field(alias="built-at")]
    backends: Annotated[dict[str, KernelBackend], Field(min_length=1)]

    @model_validator(mode="after")
    def check_on(self) -> Self:
        alone = [name for name, one in self.backends.items() if one.on is None]
        wrong = [name for name, one in self.backends.items() if one.on and one.on not in alone]
        if wrong:
            raise BadValue(f"has {', '.join(wrong)} on what is no base of its own", f"on: {' or '.join(alone)}")
        return self


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


def lab_file(name: str) -> str:
    """The recipe of the lab root of that name."""
    return f"vms/{name}.yaml"


def read_lab_recipe(root: Path, name: str = LAB) -> LabRecipe:
    """Complaints for all that is wrong with the file."""
    return read_model(LabRecipe, read(root / lab_file(name), root))
