# SPDX-License-Identifier: Apache-2.0
"""The options of the command line and what their texts mean.

Every option is also an environment variable, PATHWARP_NAME, which is how Make hands its own on. Texts are read here
and not by click, so that all that is wrong with them comes out at once.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from pathwarp.base.complaints import Complaint, gather
from pathwarp.model.backends.registry import BACKENDS, DEFAULT_BACKEND
from pathwarp.model.kerneltree import OPTION as KERNEL
from pathwarp.model.kerneltree import KernelTree, read_kernel_tree
from pathwarp.model.overrides import OPTION, read_overrides

Decorator = Callable[[Callable], Callable]

TIME, AT = "time", "at"


class WholeText(click.ParamType):
    """Text that an environment variable gives as one piece, blanks and all."""

    name = "text"
    envvar_list_splitter = "\0"


def option(name: str, help_text: str, **more: Any) -> Decorator:
    return click.option(f"--{name}", envvar=f"PATHWARP_{name.upper()}", help=help_text, **more)


def together(*decorators: Decorator) -> Decorator:
    """The given options, in this order, as one decorator."""

    def decorate(command: Callable) -> Callable:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


SELECTION = together(
    option("scenario", "The experiment."),
    option("variant", "Variants, comma-separated, or `all`.  [default: the scenario's]"),
    option("traffic", "Workloads, comma-separated, or `all` of the scenario's.  [default: the scenario's choice]"),
    option(
        OPTION, "PATH=VALUE, a change to the scenario: events.0.fail=interface-down.", multiple=True, type=WholeText()
    ),
    option(AT, "AXIS=VALUE, points of the scenario's grid, comma-separated.  [default: all]"),
    option("kernel", "A folder with a kernel's source, in place of the packaged one.", type=click.Path(path_type=Path)),
    option("yes", "Also a grid of more than 10,000 points.", is_flag=True),
    option(TIME, "virtual or real: short for --set time=…  [default: the scenario's, virtual]"),
)


_BACKENDS = " or ".join(f"{backend.name} ({backend.title})" for backend in BACKENDS.values())
BACKEND = option("backend", f"{_BACKENDS}.", default=DEFAULT_BACKEND, show_default=True)


def read_selection(
    complaints: list[Complaint], scenario: str | None, variant: str | None, traffic: str | None, **others: Any
) -> dict[str, Any]:
    """What SELECTION's options ask for, as the arguments of `Request`; adds to `complaints`."""
    texts = [*others[OPTION], *([f"{TIME}={others[TIME]}"] if others[TIME] else [])]
    return {
        "scenario": scenario or "",
        "variants": read_names(variant),
        "traffic": read_names(traffic),
        "overrides": read_overrides(texts, complaints),
        "at": read_at(others[AT], complaints),
        "many": others["yes"],
        "source": read_source(others.get(KERNEL), complaints),
    }


def read_source(folder: Path | None, complaints: list[Complaint]) -> KernelTree | None:
    """The user's own source of the kernel, if any; what is none goes to `complaints`."""
    with gather(complaints):
        return read_kernel_tree(folder) if folder else None
    return None


def shown(path: Path) -> Path:
    """The path as seen from where the user is, when it lies below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def read_names(text: str | None) -> tuple[str, ...]:
    """`a, b` -> (a, b), each once; nothing -> ()."""
    names = (name.strip() for name in (text or "").split(","))
    return tuple(dict.fromkeys(name for name in names if name))


def read_at(text: str | None, complaints: list[Complaint]) -> tuple[tuple[str, str], ...]:
    """`loss=1 %, rtt=12 ms` as pairs; what is none goes to `complaints`."""
    pairs = []
    for part in (part.strip() for part in (text or "").split(",")):
        axis, equals, name = (piece.strip() for piece in part.partition("="))
        if part and equals and axis and name:
            pairs.append((axis, name))
        elif part:
            what = f"{part[:60]!r} is no point of a grid"
            complaints.append(Complaint(AT, what, "AXIS=VALUE, with commas between"))
    return tuple(dict.fromkeys(pairs))


def read_number(
    option_name: str, text: str | None, largest: int, complaints: list[Complaint], least: int = 1
) -> int | None:
    """A whole number from `least` to `largest`; None for no text, or when it is not one, which goes to `complaints`."""
    if not text:
        return None
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else -1
    if least <= number <= largest:
        return number
    complaints.append(
        Complaint(
            option_name, f"{text[:40]!r} is not a number in its range", f"whole numbers from {least} to {largest}"
        )
    )
    return None
