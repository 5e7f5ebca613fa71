# SPDX-License-Identifier: Apache-2.0
"""The trace files that a topology's links follow: finding them, reading them, their hashes."""

import hashlib
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pathwarp.base.complaints import Complaint, Complaints, gather
from pathwarp.model.links.course import Course
from pathwarp.model.links.mahimahi import read_mahimahi
from pathwarp.model.links.own import read_own
from pathwarp.model.schema.graph import AnyTopology
from pathwarp.model.schema.linktrace import CsvTrace, LinkTrace, MahimahiTrace

FOLDER = "topologies/traces"
MOST_BYTES = 64_000_000

Courses = Mapping[tuple[str, str], Course]


@dataclass(frozen=True)
class Followed:
    """What the links of a topology follow with one seed: a course by link and direction; the files' hashes by name."""

    courses: Courses = field(default_factory=dict, repr=False)
    sha256: Mapping[str, str] = field(default_factory=dict)


def missing(root: Path, topology: AnyTopology) -> Iterator[Complaint]:
    """Complaints for the files that there should be and are not."""
    specs = [trace for link in topology.wires().values() for trace in link.traces().values()]
    for names in dict.fromkeys(tuple(trace.names()) for trace in specs):
        lacking = [name for name in names if not (root / FOLDER / name).is_file()]
        if lacking:
            shown = ", ".join(lacking[:5]) + (", ..." if len(lacking) > 5 else "")
            what = f"{len(lacking)} of the {len(names)} traces that {topology.name} follows are missing: {shown}"
            yield Complaint(FOLDER, what, hint="bin/pathwarp mobility generate NAME writes those of a mobility model")


def follow(root: Path, topology: AnyTopology, seed: int, duration_ns: int) -> Followed:
    """Read what the links follow with this seed; Complaints for all that is wrong with the files."""
    complaints: list[Complaint] = []
    courses: dict[tuple[str, str], Course] = {}
    hashes: dict[str, str] = {}
    known: dict[tuple[str, LinkTrace], Course | None] = {}
    for link_name, link in topology.wires().items():
        for direction, trace in link.traces().items():
            name = trace.name(seed)
            with gather(complaints):
                if (name, trace) not in known:
                    known[name, trace] = None
                    content = _content(root, name)
                    hashes[f"{FOLDER}/{name}"] = hashlib.sha256(content).hexdigest()
                    known[name, trace] = _read(trace, content, f"{FOLDER}/{name}", duration_ns)
                course = known[name, trace]
                if course is not None:
                    courses[link_name, direction] = course
    if complaints:
        raise Complaints(complaints)
    return Followed(courses, hashes)


def _content(root: Path, name: str) -> bytes:
    """The file's bytes, but not those of a file that a link leads to outside of the folder."""
    shown, folder = f"{FOLDER}/{name}", root / FOLDER
    try:
        path = (folder / name).resolve(strict=True)
        if not path.is_relative_to(folder.resolve()):
            raise Complaints.one(shown, "leads out of the folder", f"a file in {FOLDER}")
        if not stat.S_ISREG(path.stat().st_mode):
            raise Complaints.one(shown, "is not a file")
        if path.stat().st_size > MOST_BYTES:
            raise Complaints.one(shown, f"is larger than {MOST_BYTES} bytes", hint="cut it to what the trial lasts")
        return path.read_bytes()
    except OSError as error:
        raise Complaints.one(shown, f"cannot be read: {error.strerror}") from None


def _read(trace: LinkTrace, content: bytes, name: str, duration_ns: int) -> Course:
    try:
        lines = content.decode("ascii").splitlines()
        match trace:
            case CsvTrace():
                return read_own(lines, name)
            case MahimahiTrace():
                return read_mahimahi(lines, name, trace.bin_ns, duration_ns)
    except UnicodeDecodeError as error:
        raise Complaints.one(name, f"is not plain text: byte {error.start}") from None
