# SPDX-License-Identifier: Apache-2.0
"""Read a YAML data file into plain Python data that remembers its lines.

A subset on purpose: one small mapping, no anchors, no tags, no key twice; plain words mean text, true, false, null or a
decimal number and nothing else (no dates, no octal or sexagesimal numbers, no `yes` that turns into true).
"""

import re
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from pathwarp.base import interrupt
from pathwarp.base.complaints import Complaint, Complaints

SIZE_LIMIT_BYTES = 100_000
DEPTH_LIMIT = 20
# Brackets that may be open, so that those which are too many still have a place to be complained about.
LEVEL_LIMIT = 80

Place = tuple[str | int, ...]
AS_SET = -1  # in place of a line

CORE = "tag:yaml.org,2002:"
SCALARS: dict[str, Callable[[str], object]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": lambda text: {"true": True, "false": False}[text],
    "null": lambda text: None,
}


class Loader(yaml.SafeLoader):
    """PyYAML's safe loader, used up to the nodes and with the plain words above."""

    yaml_implicit_resolvers = {}  # noqa: RUF012, an attribute of PyYAML's that is no ClassVar

    def fetch_flow_collection_start(self, token: type[yaml.Token]) -> None:
        """Begin a list or mapping in brackets; RecursionError beyond LEVEL_LIMIT.

        For each token PyYAML goes through all brackets that are open: many of both would take minutes.
        """
        if self.flow_level >= LEVEL_LIMIT:
            raise RecursionError
        super().fetch_flow_collection_start(token)


for _tag, _pattern, _first in (
    ("bool", r"true|false", ["t", "f"]),
    ("null", r"null|~|", ["n", "~", ""]),
    ("int", r"[-+]?[0-9]{1,18}", list("-+0123456789")),
    ("float", r"[-+]?[0-9]{1,18}\.[0-9]{1,18}", list("-+0123456789")),
):
    Loader.add_implicit_resolver(f"{CORE}{_tag}", re.compile(rf"(?:{_pattern})\Z", re.ASCII), _first)


@dataclass
class YamlFile:
    """`data` as read, `lines` of its places (from 1), and `name`, the path to show to the user."""

    name: str
    data: dict[str, Any] = field(default_factory=dict)
    lines: dict[Place, int] = field(default_factory=dict)

    def where(self, place: Place) -> str:
        """`scenarios/x.yaml:12: events.0.at`, with the line of the nearest place that is in the file."""
        near = next((self.lines[place[:n]] for n in range(len(place), -1, -1) if place[:n] in self.lines), None)
        file = f"{self.name} as set" if near == AS_SET else f"{self.name}:{near}" if near else self.name
        return ": ".join(part for part in (file, ".".join(map(str, place))) if part)

    def mark_as_set(self, place: Place) -> None:
        """Note that the value at `place` came from the command line, so neither it nor its parts have lines."""
        self.lines = {known: line for known, line in self.lines.items() if known[: len(place)] != place}
        self.lines[place] = AS_SET

    def fill(self, node: yaml.Node, found: list[Complaint] | None = None) -> None:
        """Take the data and lines from `node`; Complaints for all that the subset does not allow, or these to `found`.

        What it doesn't allow is left out of the data.
        """
        complaints: list[Complaint] = [] if found is None else found
        data = self._build(node, (), set(), complaints)
        self.data = data if isinstance(data, dict) else {}
        if complaints and found is None:
            raise Complaints(complaints)

    def _build(self, node: yaml.Node, place: Place, seen: set[int], complaints: list[Complaint]) -> object:
        # The line of a key, where there is one, is a better place than that of a mapping which begins below it.
        self.lines.setdefault(place, node.start_mark.line + 1)
        if id(node) in seen:
            complaints.append(
                Complaint(self.where(place), "is an alias (*) of another place", hint="write the value again")
            )
            return None
        seen.add(id(node))
        if len(place) > DEPTH_LIMIT:
            complaints.append(Complaint(self.where(place), "is nested too deep", f"at most {DEPTH_LIMIT} levels"))
            return None
        tag = node.tag.removeprefix(CORE)
        if isinstance(node, yaml.MappingNode) and tag == "map":
            return self._mapping(node, place, seen, complaints)
        if isinstance(node, yaml.SequenceNode) and tag == "seq":
            return [self._build(value, (*place, index), seen, complaints) for index, value in enumerate(node.value)]
        try:
            return SCALARS[tag](node.value)
        except (KeyError, ValueError, TypeError):
            complaints.append(Complaint(self.where(place), f"has the tag {node.tag[:60]!r}", hint="leave the tag out"))
            return None

    def _mapping(
        self, node: yaml.MappingNode, place: Place, seen: set[int], complaints: list[Complaint]
    ) -> dict[str, object]:
        data: dict[str, object] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                complaints.append(
                    Complaint(f"{self.name}:{line}", "has a list or a mapping as a key", "text as the key")
                )
                continue
            here = (*place, key.value)
            if key.value in data:
                twice = YamlFile(self.name, lines={here: line}).where(here)
                what = f"is there twice, first in line {self.lines[here]}"
                complaints.append(Complaint(twice, what, hint="keep one of the two"))
                continue
            self.lines[here] = line
            data[key.value] = self._build(value, here, seen, complaints)
        return data


def read(path: Path, root: Path, found: list[Complaint] | None = None) -> YamlFile:
    """Read the mapping in `path`, shown in messages as its way from `root`; Complaints for all that is wrong.

    With `found`, what the subset does not allow goes there, such as a key that is there twice, and the rest is read.
    """
    interrupt.check()
    name = path.relative_to(root).as_posix()
    return parse(_text(path, name), name, found)


def parse(text: str, name: str, found: list[Complaint] | None = None) -> YamlFile:
    """Read the mapping in `text`; see `read`."""
    if len(text) > SIZE_LIMIT_BYTES:
        raise Complaints.one(name, f"is longer than {SIZE_LIMIT_BYTES} characters", hint="is it really a data file?")
    try:
        node = _compose(text)
        if not isinstance(node, yaml.MappingNode):
            raise Complaints.one(name, "holds no mapping", "lines such as `name: value`")
        file = YamlFile(name)
        file.fill(node, found)
    except yaml.YAMLError as error:
        raise Complaints([_malformed(error, name, text)]) from None
    except RecursionError:
        raise Complaints.one(name, "is nested too deep", f"at most {DEPTH_LIMIT} levels") from None
    return file


@lru_cache(maxsize=256)
def _compose(text: str) -> yaml.Node | None:
    """The nodes of a text, which nobody changes: a command reads the same file for each variant that extends it."""
    return yaml.compose(text, Loader)


def value(text: str, name: str) -> object:
    """Read one value, such as `80 s` or `{rate: 1 Mbit/s}`; Complaints, with `name` as the place."""
    try:
        return parse(f"value: {text}", name).data["value"]
    except Complaints as complaints:
        raise Complaints.one(name, complaints.complaints[0].what, hint="quote the value") from None


def _text(path: Path, name: str) -> str:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise Complaints.one(name, "is not a file")
        with path.open("rb") as stream:
            return stream.read(SIZE_LIMIT_BYTES + 1).decode("utf-8-sig")
    except OSError as error:
        raise Complaints.one(name, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise Complaints.one(name, f"is not UTF-8 text: byte {error.start}", hint="save it as UTF-8") from None


def _malformed(error: yaml.YAMLError, name: str, text: str) -> Complaint:
    """The complaint for YAML that PyYAML cannot read, with line and column (both from 1)."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark:
        what = getattr(error, "problem", None) or getattr(error, "context", None)
        place = f"{name}:{mark.line + 1}:{mark.column + 1}"
        return Complaint(place, f"is not valid YAML: {what}", hint=_hint(text, mark))
    position = getattr(error, "position", 0)
    line, column = text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)
    sign = f"character U+{ord(text[position]):04X}" if position < len(text) else str(error)
    return Complaint(f"{name}:{line}:{column}", f"is not valid YAML: {sign}", "printable text")


def _hint(text: str, mark: yaml.Mark) -> str:
    line = next(iter(text.splitlines()[mark.line : mark.line + 1]), "")
    if "\t" in line[: mark.column + 1]:
        return "indent with spaces, not with tabs"
    return "look for a missing quote, bracket, colon or space in this line or above"
