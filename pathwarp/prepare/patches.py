# SPDX-License-Identifier: Apache-2.0
"""Series of kernel patches: which files are in one, and putting them on a source tree."""

import os
import re
import subprocess
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
ENTRY = re.compile(rf"(?P<name>[\w.+-]{{1,{LONGEST_NAME}}}\.patch)(\s+#\s*(?P<only>\S+))?", re.ASCII)


def read_series(folder: Path, root: Path, backend: str, backends: tuple[str, ...]) -> list[Path]:
    """The patches that `folder/series` lists for a backend, in order; none when there is no such file.

    A line is a file name, or a comment. A name with `# BACKEND` behind it is for that backend only. Complaints for each
    line that is neither, and for each patch that is missing.
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
                f"NAME.patch, or NAME.patch # BACKEND, a NAME of at most {LONGEST_NAME} characters and a backend of "
                f"{', '.join(backends)}"
            )
            complaints.append(Complaint(where, f"{line[:80]!r} names no patch", valid))
        elif not (folder / entry["name"]).is_file():
            complaints.append(
                Complaint(where, f"there is no file {entry['name']}", hint="add it, or take this line out")
            )
        elif entry["only"] in (None, backend):
            patches.append(folder / entry["name"])
    if complaints:
        raise Complaints(complaints)
    return patches


def apply_patch(patch: Path, tree: Path, log: TextIO) -> list[str]:
    """Put one patch on `tree`; return what stops it, a line for each hunk or file, none when all of it is on."""
    command = ["patch", "--strip=1", "--force", f"--fuzz={FUZZ}", "--no-backup-if-mismatch", "--reject-file=-"]
    result = program.run(
        [*command, f"--input={patch}"],
        folder=tree,
        environment={**os.environ, "LC_ALL": "C"},
        errors=subprocess.STDOUT,
    )
    said = result.stdout.decode(errors="replace")
    log.write(f"{patch.name}:\n{said}")
    if result.returncode == 0:
        return [] if said else ["has no change in it"]
    return refusals(said) or [said.strip()]


def refusals(output: str) -> list[str]:
    """What GNU patch's output (in the C locale) says did not apply, a line each: number of the hunk, file, place."""
    found = []
    file = ""
    for line in output.splitlines():
        if match := re.match(r"patching file '?(.+?)'?$", line) or re.match(r"\|\+\+\+ (?:b/)?(\S+)", line):
            file = match[1]
        elif match := re.match(r"Hunk #(\d+) FAILED at (\d+)", line):
            found.append(f"hunk {match[1]} does not apply to {file} near line {match[2]}")
        elif line.startswith("No file to patch."):
            found.append(f"there is no file {file} to change")
        elif line.startswith("patch: ****"):
            found.append(line.removeprefix("patch: ****").strip())
    return found


def apply_patches(patches: list[Path], tree: Path, root: Path, source: str, log: TextIO) -> None:
    """Put patches on `tree` in order; Complaints (a build failed) with file and hunks of the first that does not apply.

    `source` is said in the message: which source this is.
    """
    for patch in patches:
        refused = apply_patch(patch, tree, log)
        if refused:
            where = patch.relative_to(root).as_posix()
            raise Complaints((Complaint(where, f"{what} ({source})") for what in refused), Exit.FAILED)
