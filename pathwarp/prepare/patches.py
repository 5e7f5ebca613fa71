# SPDX-License-Identifier: Apache-2.0
"""Series of kernel patches: which files are in one, and putting them on a source tree."""

import os
import re
import subprocess
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from pathwarp.base import program
from pathwarp.base.complaints import Complaint, Complaints, Exit
from pathwarp.base.plainfile import read_plain

SERIES = "series"
# How many lines of a hunk's context may differ: patch's own default, said here because it decides what still applies.
FUZZ = 2

# Of a patch's name without its ending; file systems take 255.
LONGEST_NAME = 120
ENTRY = re.compile(
    rf"(?P<name>[\w.+-]{{1,{LONGEST_NAME}}}\.patch)(\s+#\s*(?P<only>[^\s,]+)?,?\s*(?P<optional>if it fits)?)?", re.ASCII
)


@dataclass(frozen=True)
class Entry:
    """A patch of a series. `optional`: where it doesn't fit a user's own source, that can do without."""

    path: Path
    optional: bool = False


def read_series(folder: Path, root: Path, chosen: Collection[str], backends: tuple[str, ...]) -> list[Entry]:
    """The patches that `folder/series` lists for the chosen backends, in order; none when there is no such file.

    A line is a file name, or a comment. A name with `# BACKEND` behind it is for that backend only, and for those that
    stand on it; `# if it fits` and `# BACKEND, if it fits` make it optional. Complaints for each line that is neither,
    and for each patch that is missing.
    """
    series = folder / SERIES
    try:
        lines = read_plain(series).decode("utf-8").splitlines()
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise Complaints.one(series.relative_to(root).as_posix(), f"cannot be read: {error}") from None
    complaints, patches = [], []
    for number, line in enumerate(map(str.strip, lines), 1):
        if not line or line.startswith("#"):
            continue
        where = f"{series.relative_to(root).as_posix()}:{number}"
        entry = ENTRY.fullmatch(line)
        if entry is None or entry["only"] not in (None, *backends):
            valid = (
                f"NAME.patch, NAME.patch # BACKEND or NAME.patch # BACKEND, if it fits; a NAME of at most "
                f"{LONGEST_NAME} characters and a backend of {', '.join(backends)}"
            )
            complaints.append(Complaint(where, f"{line[:80]!r} names no patch", valid))
        elif not (folder / entry["name"]).is_file():
            complaints.append(
                Complaint(where, f"there is no file {entry['name']}", hint="add it, or take this line out")
            )
        elif entry["only"] in (None, *chosen):
            patches.append(Entry(folder / entry["name"], bool(entry["optional"])))
    if complaints:
        raise Complaints(complaints)
    return patches


def apply_patch(patch: Path, tree: Path, log: TextIO) -> list[str]:
    """Put one patch on `tree`; return what stops it, a line for each hunk or file, none when all of it is on."""
    said, refused = _patch(patch, tree)
    log.write(f"{patch.name}:\n{said}")
    return refused


def try_patch(patch: Path, tree: Path, reverse: bool = False) -> list[str]:
    """What would stop a patch, or taking it off again, if it were put on `tree`; nothing is changed."""
    return _patch(patch, tree, "--dry-run", *(["--reverse"] if reverse else []))[1]


def _patch(patch: Path, tree: Path, *options: str) -> tuple[str, list[str]]:
    """Call GNU patch; what it printed, and what stops it."""
    command = ["patch", "--strip=1", "--force", f"--fuzz={FUZZ}", "--no-backup-if-mismatch", "--reject-file=-"]
    result = program.run(
        [*command, *options, f"--input={patch}"],
        folder=tree,
        environment={**os.environ, "LC_ALL": "C"},
        errors=subprocess.STDOUT,
    )
    said = result.stdout.decode(errors="replace")
    if result.returncode == 0:
        return said, [] if said else ["has no change in it"]
    return said, refusals(said) or [said.strip()]


def refusals(output: str) -> list[str]:
    """What GNU patch's output (in the C locale) says did not apply, a line each: number of the hunk, file, place."""
    found = []
    file = ""
    for line in output.splitlines():
        if match := re.match(r"(?:patch|check)ing file '?(.+?)'?$", line) or re.match(r"\|\+\+\+ (?:b/)?(\S+)", line):
            file = match[1]
        elif match := re.match(r"Hunk #(\d+) FAILED at (\d+)", line):
            found.append(f"hunk {match[1]} does not apply to {file} near line {match[2]}")
        elif line.startswith("No file to patch."):
            found.append(f"there is no file {file} to change")
        elif line.startswith("patch: ****"):
            found.append(line.removeprefix("patch: ****").strip())
    return found


def apply_fitting(entries: list[Entry], tree: Path, root: Path, source: str, log: TextIO) -> list[str]:
    """Put patches on a source that they may not have been made for, in order; a line for each that is left out.

    One is left out that is in the source already, or that is optional and doesn't fit. Complaints (a build failed) with
    file and hunks of the first other one that doesn't.
    """
    left_out = []
    for entry in entries:
        where = entry.path.relative_to(root).as_posix()
        refused = try_patch(entry.path, tree)
        if not refused:
            apply_patch(entry.path, tree, log)
        elif not try_patch(entry.path, tree, reverse=True):
            left_out.append(f"{where}: is in the source already")
        elif entry.optional:
            left_out.append(f"{where}: {refused[0]}")
        else:
            raise Complaints((Complaint(where, f"{what} ({source})") for what in refused), Exit.FAILED)
    return left_out


def apply_patches(patches: list[Path], tree: Path, root: Path, source: str, log: TextIO) -> None:
    """Put patches on `tree` in order; Complaints (a build failed) with file and hunks of the first that does not apply.

    `source` is said in the message: which source this is.
    """
    for patch in patches:
        refused = apply_patch(patch, tree, log)
        if refused:
            where = patch.relative_to(root).as_posix()
            raise Complaints((Complaint(where, f"{what} ({source})") for what in refused), Exit.FAILED)
