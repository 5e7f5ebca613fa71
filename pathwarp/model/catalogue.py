# SPDX-License-Identifier: Apache-2.0
"""Which scenarios, topologies, workloads and variants there are: their names, files and title lines.

On the path of every command, so it imports nothing but YAML, and that only for the titles.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from pathwarp.base.complaints import Complaint, Complaints, gather

# A name can never leave its folder, and is safe in a path, a Make variable and a kernel release.
NAME = r"[a-z0-9][a-z0-9-]*"
NAME_RULE = "lower-case letters, digits and dashes, at most 40"
# Where the runs of the kernel's own tests are among the results, so that no scenario may be called so.
SELFTESTS = "selftests"


@dataclass(frozen=True)
class FileKind:
    """A kind of data file: what one is called, where it is, and the option that names it on the command line."""

    noun: str
    pattern: str
    option: str

    @property
    def in_folder(self) -> bool:
        """Whether the name is that of the file's folder, not of the file."""
        return "*/" in self.pattern


SCENARIO = FileKind("scenario", "scenarios/*.yaml", "scenario")
VARIANT = FileKind("variant", "kernels/variants/*/variant.yaml", "variant")
WORKLOAD = FileKind("workload", "traffic/*.yaml", "traffic")
TOPOLOGY = FileKind("topology", "topologies/*.yaml", "topology")
MOBILITY = FileKind("mobility model", "topologies/mobility/*.yaml", "mobility")
# Those that `list` names.
FILE_KINDS = (SCENARIO, VARIANT, WORKLOAD, TOPOLOGY)


def is_name(text: object) -> bool:
    return isinstance(text, str) and len(text) <= 40 and re.fullmatch(NAME, text) is not None


def suggest(bad: object, valid: list[str] | tuple[str, ...]) -> str:
    """A hint for the valid word that `bad` is nearest to; empty when there is none."""
    from difflib import get_close_matches

    near = get_close_matches(str(bad)[:80].lower(), valid, n=1)
    return f"did you mean {near[0]}?" if near else ""


@dataclass(frozen=True)
class Catalogue:
    """The data files below `root`, the project's folder."""

    root: Path

    def files(self, kind: FileKind) -> dict[str, Path]:
        """Name to file, sorted by name; what is not named by the rule is left out."""
        found = {}
        for path in sorted(self.root.glob(kind.pattern)):
            name = path.parent.name if kind.in_folder else path.stem
            if is_name(name):
                found[name] = path
        return found

    def file(self, kind: FileKind, name: str) -> Path:
        """Where the file of a name is, or would be."""
        return self.root / kind.pattern.replace("*", name)

    def names(self, kind: FileKind) -> list[str]:
        return list(self.files(kind))

    def complaint(self, kind: FileKind, name: object, where: str) -> Complaint | None:
        """What is wrong with `name` as the name of a `kind`, asked for at `where`; None when there is such a file."""
        if isinstance(name, str) and is_name(name) and os.path.lexists(self.file(kind, name)):
            return None
        names = self.names(kind)
        valid = ", ".join(names) or f"none: there is no {kind.pattern}"
        if name == "":
            return Complaint(
                where, f"no {kind.noun} is named", valid, f"for example {kind.option}={next(iter(names), 'NAME')}"
            )
        if not is_name(name):
            return Complaint(
                where, f"{str(name)[:60]!r} cannot be the name of a {kind.noun}", valid, f"a name is {NAME_RULE}"
            )
        home = kind.pattern.replace("*", str(name))
        return Complaint(
            where, f"unknown {kind.noun} '{name}'", valid, suggest(name, names) or f"a new one goes to {home}"
        )

    def titles(self, kind: FileKind, complaints: list[Complaint]) -> dict[str, str]:
        """Name to title line; files without one, or named wrong, go to `complaints`."""
        from pathwarp.base.yamlfile import read

        titles: dict[str, str] = {}
        named = self.files(kind)
        for path in sorted(set(self.root.glob(kind.pattern)) - set(named.values())):
            where = path.relative_to(self.root).as_posix()
            complaints.append(Complaint(where, f"cannot be the name of a {kind.noun}", NAME_RULE, "rename it"))
        for name, path in named.items():
            with gather(complaints):
                file = read(path, self.root)
                title = file.data.get("title")
                if not isinstance(title, str):
                    raise Complaints.one(file.where(("title",)), "is missing or not text", hint="one line for `list`")
                titles[name] = title
        return titles
