# SPDX-License-Identifier: Apache-2.0
"""How measuring says that a raw file cannot be used."""

from pathwarp.faults import Exit, Faults


def broken(where: object, what: str, hint: str = "") -> Faults:
    """Return the error to raise: the file or place, what is wrong, what to do next; a failed trial, not bad input."""
    return Faults.one(str(where), what, hint=hint, code=Exit.FAILED)
