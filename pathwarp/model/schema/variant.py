# SPDX-License-Identifier: Apache-2.0
"""Model of a recovery variant, `kernels/variants/NAME/variant.yaml`, and what it comes to with those it extends."""

import re
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from pathwarp.base.complaints import BadValue
from pathwarp.model.schema.common import Line, Name, Part, Sysctls
from pathwarp.model.schema.timing import Timing

Transport = Literal["mptcp", "tcp"]

LABEL_LIMIT = 24


def read_colour(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"#[0-9A-Fa-f]{6}", value):
        hint = "put it in quotes: without them YAML takes # for the beginning of a comment" if value is None else ""
        raise BadValue("is not a colour", 'two hexadecimal digits each for red, green and blue: "#0072B2"', hint)
    return value.upper()


def read_label(value: object) -> str:
    """Figures have no room for more, and matplotlib leaves what begins with _ out of legends."""
    if not isinstance(value, str) or not 1 <= len(value) <= LABEL_LIMIT or not value.isprintable() or value[0] in " _":
        raise BadValue("is not a label", f"1 to {LABEL_LIMIT} printable characters, the first one neither blank nor _")
    return value


class Variant(Part):
    """`extends` names the variant whose patches come first and whose sysctls and transport hold unless set here.

    `colour` and `label` are the variant's own in figures; neither is inherited, and no trial depends on them. `timing`
    says what its timers send, for predictions; what it doesn't name is that of the variant that it extends.
    """

    name: Name
    title: Line
    source: Line
    colour: Annotated[str | None, BeforeValidator(read_colour)] = None
    label: Annotated[str | None, BeforeValidator(read_label)] = None
    extends: Name | None = None
    transport: Transport | None = None
    sysctls: Annotated[Sysctls, Field(default_factory=dict)]
    timing: Timing | None = None


@dataclass(frozen=True)
class ResolvedVariant:
    """A variant with all that it extends.

    `chain` holds the names from the first one extended to the variant itself: the order of the patch series. `sysctls`
    (name to value, as text) and `transport` are what is in force. `colour` (#RRGGBB) and `label` (the name, where the
    file has none) are for figures alone, and `timing` for predictions, None where no file of the chain has any.
    """

    name: str
    title: str
    source: str
    chain: tuple[str, ...]
    transport: Transport
    sysctls: dict[str, str]
    colour: str | None
    label: str
    timing: Timing | None = None


def resolve(chain: list[Variant]) -> ResolvedVariant:
    """Merge `chain`, the variant that extends nothing first."""
    sysctls: dict[str, str] = {}
    transport: Transport = "mptcp"
    timing: Timing | None = None
    for variant in chain:
        sysctls |= variant.sysctls
        transport = variant.transport or transport
        if variant.timing:
            timing = (timing or Timing()).model_copy(update={key: one for key, one in variant.timing if one})
    last = chain[-1]
    return ResolvedVariant(
        name=last.name,
        title=last.title,
        source=last.source,
        chain=tuple(variant.name for variant in chain),
        transport=transport,
        sysctls=sysctls,
        colour=last.colour,
        label=last.label or last.name,
        timing=timing,
    )
