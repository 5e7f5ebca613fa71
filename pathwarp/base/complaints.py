# SPDX-License-Identifier: Apache-2.0
"""What is wrong with the input, all of it at once, and the exit codes."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum


class Exit(IntEnum):
    """Exit status of every command."""

    DONE = 0
    FAILED = 1  # a trial or a build failed; what the others made stays
    BAD_INPUT = 2  # nothing was started, nothing was changed
    INTERRUPTED = 130


@dataclass(frozen=True)
class Complaint:
    """One thing that is wrong: where (file and place), what (with the bad value), the valid values, what to do next."""

    where: str
    what: str
    valid: str = ""
    hint: str = ""

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.what}"]
        lines += [f"    valid: {self.valid}"] if self.valid else []
        lines += [f"    {self.hint}"] if self.hint else []
        return "\n".join(lines)


# A file of millions of lines has millions of them.
MOST_OF_A_FILE = 20


class Complaints(Exception):
    """All complaints that were found, in the order they were found and each of them once.

    `code` is the exit status: BAD_INPUT, unless something that had already begun failed (FAILED).
    """

    def __init__(self, complaints: Iterable[Complaint], code: Exit = Exit.BAD_INPUT) -> None:
        self.complaints: tuple[Complaint, ...] = tuple(dict.fromkeys(complaints))
        self.code = code
        super().__init__(self.complaints)

    @classmethod
    def one(cls, where: str, what: str, valid: str = "", hint: str = "", code: Exit = Exit.BAD_INPUT) -> "Complaints":
        return cls([Complaint(where, what, valid, hint)], code)

    def __str__(self) -> str:
        return "\n".join(str(complaint) for complaint in self.complaints)


def enough(complaints: list[Complaint], where: str, left: int) -> bool:
    """Whether there are so many about the lines of a file that the rest need not be looked at.

    The last one then says how many lines are `left`.
    """
    if len(complaints) < MOST_OF_A_FILE:
        return False
    complaints.append(Complaint(where, f"{left} more lines were not looked at", hint="is it the right file?"))
    return True


class BadValue(ValueError):
    """A value that a data file must not have: what is wrong with it, the valid values, what to do next.

    Raised by the parsers of single values; whoever knows the file and the place makes a Complaint of it.
    """

    def __init__(self, what: str, valid: str = "", hint: str = "") -> None:
        self.what, self.valid, self.hint = what, valid, hint
        super().__init__("; ".join(part for part in (what, valid and f"valid: {valid}", hint) if part))


@contextmanager
def gather(found: list[Complaint]) -> Iterator[None]:
    """Append the complaints that the block raises to `found` instead of stopping at the first; the block ends there."""
    try:
        yield
    except Complaints as complaints:
        found.extend(complaints.complaints)
