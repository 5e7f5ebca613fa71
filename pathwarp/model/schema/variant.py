# SPDX-License-Identifier: Apache-2.0
"""Model of a recovery variant, `kernels/variants/NAME/variant.yaml`, and what it comes to with those it extends."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from pathwarp.model.schema.common import Line, Name, Part, Sysctls

Transport = Literal["mptcp", "tcp"]


class Variant(Part):
    """`extends` names the variant whose patches come first and whose sysctls and transport hold unless set here."""

    name: Name
    title: Line
    source: Line
    extends: Name | None = None
    transport: Transport | None = None
    sysctls: Annotated[Sysctls, Field(default_factory=dict)]


@dataclass(frozen=True)
class ResolvedVariant:
    """A variant with all that it extends.

    `chain` holds the names from the first one extended to the variant itself: the order of the patch series. `sysctls`
    (name to value, as text) and `transport` are what is in force.
    """

    name: str
    title: str
    source: str
    chain: tuple[str, ...]
    transport: Transport
    sysctls: dict[str, str]


def resolve(chain: list[Variant]) -> ResolvedVariant:
    """Merge `chain`, the variant that extends nothing first."""
    sysctls: dict[str, str] = {}
    transport: Transport = "mptcp"
    for variant in chain:
        sysctls |= variant.sysctls
        transport = variant.transport or transport
    last = chain[-1]
    return ResolvedVariant(
        last.name, last.title, last.source, tuple(variant.name for variant in chain), transport, sysctls
    )
