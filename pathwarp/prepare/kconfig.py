# SPDX-License-Identifier: Apache-2.0
"""Kernel configuration: whether the final one holds what the fragments ask for.

Kconfig silently drops an option that the source does not have or whose dependencies are off; a kernel without it would
measure something else.
"""

import re
from pathlib import Path

from pathwarp.base.complaints import Complaint, Complaints, Exit

LINE = re.compile(r"(?:# )?(CONFIG_\w+)(?:=(.+)| is not set)")
OFF = "n"


def read_config(path: Path) -> dict[str, tuple[str, int]]:
    """Option to value, `n` for one that is not set, and number of the line; the last line of an option counts."""
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if match := LINE.fullmatch(line.strip()):
            found[match[1]] = (match[2] or OFF, number)
    return found


def check_config(final: Path, fragments: list[Path], root: Path) -> None:
    """Hold the configuration in `final` against `fragments`, of which a later one wins.

    Complaints (a build failed) name every option that is not as they say. `final` is in the folder of the sources,
    which know what options there are.
    """
    wanted = {}
    for path in fragments:
        for option, (value, number) in read_config(path).items():
            wanted[option] = (value, f"{path.relative_to(root).as_posix()}:{number}")
    has = {option: value for option, (value, _) in read_config(final).items()}
    wrong = {option: at for option, at in wanted.items() if has.get(option, OFF) != at[0]}
    if not wrong:
        return
    known = known_options(final.parent)
    complaints = []
    for option, (value, where) in wrong.items():
        hint = "what it depends on is off, or something else sets it: see its Kconfig entry"
        if option.removeprefix("CONFIG_") not in known:
            hint = "this source has no such option; has it another name now?"
        complaints.append(Complaint(where, f"asks for {option}={value}, but it is {has.get(option, OFF)}", hint=hint))
    raise Complaints(complaints, Exit.FAILED)


def known_options(tree: Path) -> set[str]:
    """The names, without CONFIG_, of all options that a source tree has."""
    entry = re.compile(r"^\s*(?:menu)?config\s+(\w+)", re.MULTILINE)
    return {name for path in tree.rglob("Kconfig*") for name in entry.findall(path.read_text(errors="replace"))}
