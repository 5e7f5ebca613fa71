# SPDX-License-Identifier: Apache-2.0
"""Which sealed run folders there are: SCENARIO[@POINT][+SETTINGS]/VARIANT/TRAFFIC/seed-NNN below the results."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pathwarp.base.complaints import Complaint, Complaints
from pathwarp.model.catalogue import suggest

_SEED = re.compile(r"seed-(\d+)")
_SEALED = "[!.]*/[!.]*/[!.]*/seed-*"


def find_folders(
    results: Path,
    scenario: str = "",
    variants: Sequence[str] = (),
    traffics: Sequence[str] = (),
    without: Sequence[str] = (),
) -> list[Path]:
    """All sealed folders, in the order of their names, or those of a scenario with whatever settings, of some variants
    and traffic; those of the scenarios `without` are left out. Raises Complaints for a name that nothing is sealed of.
    """
    folders = sorted(path for path in results.glob(_SEALED) if path.is_dir() and _SEED.fullmatch(path.name))
    folders = [folder for folder in folders if _name(folder, -4) not in without]
    complaints: list[Complaint] = []
    for option, names, part in (
        ("scenario", (scenario,) if scenario else (), -4),
        ("variant", variants, -3),
        ("traffic", traffics, -2),
    ):
        there = sorted({_name(folder, part) for folder in folders})
        complaints += _unknown(option, names, there)
        known = [name for name in names if name in there]
        if known:
            folders = [folder for folder in folders if _name(folder, part) in known]
    if complaints:
        raise Complaints(complaints)
    return folders


def folders_of(
    results: Path, scenario: str, variants: Sequence[str], traffics: Sequence[str], seeds: Sequence[int] | None = None
) -> Iterator[tuple[str, str, int, Path]]:
    """Variant, traffic, seed and folder of what is sealed of these, ordered by traffic, variant, seed.

    `scenario` is with its settings; without `seeds` all count.
    """
    for traffic in traffics:
        for variant in variants:
            parent = results / scenario / variant / traffic
            places = parent.iterdir() if parent.is_dir() else ()
            present = {int(match[1]): path for path in places if (match := _SEED.fullmatch(path.name))}
            for seed in sorted(present) if seeds is None else seeds:
                if seed in present:
                    yield variant, traffic, seed, present[seed]


def _name(folder: Path, part: int) -> str:
    """What a folder's place says: a scenario without point and settings, a variant or traffic."""
    return re.split("[+@]", folder.parts[part])[0]


def _unknown(option: str, names: Sequence[str], there: Sequence[str]) -> Iterator[Complaint]:
    for name in names:
        if name not in there:
            hint = suggest(name, tuple(there)) or "`make scenario=…` makes results"
            yield Complaint(option, f"no sealed trials of {name[:40]!r}", ", ".join(there), hint)
