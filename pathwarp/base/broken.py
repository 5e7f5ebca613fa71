# SPDX-License-Identifier: Apache-2.0
"""How measuring says that a raw file cannot be used."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager

from pathwarp.base.complaints import Complaints, Exit

# What numpy, struct and plain Python raise for data that is not what it should be.
_UNUSABLE = (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError, struct.error)


def broken(where: object, what: str, hint: str = "") -> Complaints:
    """Return the error to raise: the file or place, what is wrong, what to do next; a failed trial, not bad input."""
    return Complaints.one(str(where), what, hint=hint, code=Exit.FAILED)


@contextmanager
def unusable(where: object) -> Iterator[None]:
    """Turn what the block raises about data into Complaints: raw files are damaged in more ways than are looked for."""
    try:
        yield
    except _UNUSABLE as error:
        what = f"its raw files can't be used: {type(error).__name__}: {error}"
        raise broken(where, what, "`make check-results` tells whether they are as they were sealed") from error
