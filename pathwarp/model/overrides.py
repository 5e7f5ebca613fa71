# SPDX-License-Identifier: Apache-2.0
"""Overrides, `events.0.fail=interface-down`: values that replace or join those of a scenario's file.

A path that begins with `topology` or `workload` is one in that file, `topology.paths.wlan.mtu`. The folder of the
results gets the overrides into its name, so that results of different ones never mix.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pathwarp.base.complaints import Complaint, Complaints, gather
from pathwarp.base.yamlfile import YamlFile, value
from pathwarp.model.backends.registry import DEFAULT_BACKEND
from pathwarp.model.catalogue import suggest

# Characters of a folder's name, of which file systems take 255.
LABEL_LIMIT = 120
# Characters of all overrides together: more is a mistake.
TEXT_LIMIT = 10_000
OPTION = "set"
# The files of a scenario that an override may be for, by its first step: `workload` is each one that is replayed.
TOPOLOGY_FILE, WORKLOAD_FILE = "topology", "workload"
FILES = (TOPOLOGY_FILE, WORKLOAD_FILE)


@dataclass(frozen=True, order=True)
class Override:
    """`path` names the place with dots, `text` is the value as YAML."""

    path: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}={self.text}"


def is_path(text: str) -> bool:
    """Whether a text can be the path of an override."""
    return re.fullmatch(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*", text) is not None


def read_overrides(texts: Iterable[str], complaints: list[Complaint]) -> tuple[Override, ...]:
    """Overrides from texts such as `a.b=1,c=x`, sorted by path; what is none goes to `complaints`.

    Commas inside brackets and quotes belong to a value.
    """
    texts = list(texts)
    if sum(map(len, texts)) > TEXT_LIMIT:
        complaints.append(
            Complaint(OPTION, "is too long", f"at most {TEXT_LIMIT} characters", "write a scenario of its own")
        )
        return ()
    overrides: dict[str, Override] = {}
    for part in (part for text in texts for part in _split(text)):
        path, equals, text = (piece.strip() for piece in part.partition("="))
        where = f"{OPTION}={part}"[:120]
        if not equals or "\n" in text or not is_path(path):
            complaints.append(
                Complaint(where, "is not a setting", "PATH=VALUE, for example events.0.fail=interface-down")
            )
        elif path in overrides and overrides[path].text != text:
            complaints.append(Complaint(where, f"{path} is set twice, first to {overrides[path].text!r}"))
        else:
            overrides[path] = Override(path, text)
    return tuple(sorted(overrides.values()))


def apply(overrides: Iterable[Override], file: YamlFile, of: str = "") -> None:
    """Put a file's overrides into its data, before it is checked; Complaints for places that there are not.

    `of` is the name of the file among FILES, empty for the scenario, which has all that begin with none of these.
    """
    complaints: list[Complaint] = []
    for override in overrides:
        steps = override.path.split(".")
        elsewhere = steps[0] if steps[0] in FILES and len(steps) > 1 else ""
        if elsewhere == of:
            with gather(complaints):
                _put(override, steps[1:] if of else steps, file)
    if complaints:
        raise Complaints(complaints)


def label(
    scenario: str, overrides: Iterable[Override], backend: str = DEFAULT_BACKEND, point: str = "", kernel: str = ""
) -> str:
    """The folder name of the scenario's results: `path-failure`, `path-failure+events.0.fail=interface-down`.

    `point` is what a point of a grid is called in it, `@loss=1pct`. Another backend than the default one is in it as
    well, `path-failure+backend=vm`, and so is the name of a user's own source of the kernel. What is not safe in a file
    name becomes a dash; a hash of the overrides then keeps different ones apart.
    """
    others = [] if backend == DEFAULT_BACKEND else [f"backend={backend}"]
    others += [f"kernel={kernel}"] if kernel else []
    full = "+".join([scenario, *map(str, overrides), *others])
    safe = re.sub(r"[^A-Za-z0-9._=+-]+", "-", full)
    if point:
        full, safe = (name.replace(scenario, f"{scenario}{point}", 1) for name in (full, safe))
    if safe == full and len(full) <= LABEL_LIMIT:
        return full
    return f"{safe[: LABEL_LIMIT - 9]}~{hashlib.sha256(full.encode()).hexdigest()[:8]}"


def _split(text: str) -> list[str]:
    """Cut at the commas that are outside of brackets and quotes."""
    pieces, depth, quote = [""], 0, ""
    for sign in text:
        if sign == "," and depth <= 0 and not quote:
            pieces.append("")
            continue
        pieces[-1] += sign
        if sign in "\"'" and quote in ("", sign):
            quote = "" if quote else sign
        elif not quote:
            depth += (sign in "[{") - (sign in "]}")
    return [piece.strip() for piece in pieces if piece.strip()]


def _put(override: Override, steps: list[str], file: YamlFile) -> None:
    where = f"{OPTION}={override}"[:120]
    # A sysctl's name has dots of its own, and the file need not have any sysctls.
    if steps[0] == "sysctls" and len(steps) > 1:
        steps = ["sysctls", ".".join(steps[1:])]
        file.data.setdefault("sysctls", {})
    data: Any = file.data
    place: list[str | int] = []
    for step in steps[:-1]:
        key = _key(data, step, where)
        if isinstance(data, dict) and key not in data:
            raise Complaints([_nowhere(where, step, list(data))])
        data = data[key]
        place.append(key)
    key = _key(data, steps[-1], where)
    data[key] = value(override.text, where)
    file.mark_as_set((*place, key))


def _key(data: object, step: str, where: str) -> str | int:
    """`step` as a key of the mapping or an index of the list `data`."""
    if isinstance(data, dict):
        return step
    indexes = [str(index) for index in range(len(data))] if isinstance(data, list) else []
    if step not in indexes:
        raise Complaints([_nowhere(where, step, indexes)])
    return int(step)


def _nowhere(where: str, step: str, valid: list[str]) -> Complaint:
    return Complaint(
        where, f"there is no '{step}'", ", ".join(valid) or "nothing: it is a single value", suggest(step, valid)
    )
