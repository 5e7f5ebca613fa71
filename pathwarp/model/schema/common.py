# SPDX-License-Identifier: Apache-2.0
"""What the models of the data files share: strict parts, names, and values with units.

Keys are those of the YAML files; fields that measure something carry the unit in their own name.
"""

import re
from collections.abc import Callable
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, RootModel

from pathwarp.base import units
from pathwarp.base.complaints import BadValue
from pathwarp.model.catalogue import NAME_RULE, is_name

Number = TypeVar("Number", int, float)


class Part(BaseModel):
    """Base of every part of a file: unknown keys are complaints, nothing changes after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_by_alias=True, validate_by_name=False)


def check_name(text: str) -> str:
    if not is_name(text):
        raise BadValue("is not a name", NAME_RULE)
    return text


def check_device(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,9}", text) or text in ("all", "default", "lo"):
        raise BadValue("is not a name", "lower-case letters, digits and dashes, at most 10; not all, default or lo")
    return text


def check_sysctl(text: str) -> str:
    # Host-wide ones (kernel., vm.) would not be the hosts' own; a slash or an empty step could leave /proc/sys/net.
    if not re.fullmatch(r"net(\.[A-Za-z0-9_-]{1,40}){1,8}", text):
        raise BadValue("is not a sysctl of the network", "names such as net.ipv4.tcp_early_retrans")
    return text


def read_sysctl_value(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise BadValue("is not a sysctl's value", "a whole number or text")
    if not re.fullmatch(r"[!-~]([ -~]{0,198}[!-~])?", str(value)):
        raise BadValue("is not a sysctl's value", "one line of 1 to 200 printable ASCII characters")
    return str(value)


def between(parse: Callable[[object], Number], least: str, most: str) -> BeforeValidator:
    """A validator that parses a value with a unit and holds it to a range."""
    low, high = parse(least), parse(most)

    def read(value: object) -> Number:
        number = parse(value)
        if not low <= number <= high:
            raise BadValue("is out of range", f"{least} to {most}")
        return number

    return BeforeValidator(read)


Name = Annotated[str, AfterValidator(check_name)]
# Becomes part of an interface's name, of which the kernel keeps 15 characters (NODE-eth0).
Device = Annotated[str, AfterValidator(check_device)]
Line = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\n\r]*$")]
Count = Annotated[int, Field(strict=True, ge=1, le=10_000)]
Sysctls = dict[Annotated[str, AfterValidator(check_sysctl)], Annotated[str, BeforeValidator(read_sysctl_value)]]

# Exact integers of the smallest unit. An hour is longer than any experiment here, and than any delay.
DurationNs = Annotated[int, between(units.parse_duration_ns, "0 s", "1 h")]
SizeBytes = Annotated[int, BeforeValidator(units.parse_size_bytes)]
RateBitS = Annotated[int, between(units.parse_rate_bit_s, "1 kbit/s", "100 Gbit/s")]
Fraction = Annotated[float, BeforeValidator(units.parse_fraction)]
PacketCount = Annotated[int, between(units.parse_packets, "1 packet", "1000000 packets")]
MeanPackets = Annotated[float, between(units.parse_mean_packets, "1 packet", "1000000 packets")]


class PinnedSysctls(RootModel[Sysctls]):
    """`vms/sysctls.yaml`: what every guest's hosts set."""
