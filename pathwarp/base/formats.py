# SPDX-License-Identifier: Apache-2.0
"""Records say of which format they are; whoever reads one knows the formats that it can read."""

from collections.abc import Mapping, Sequence
from typing import Any

from pathwarp.base.complaints import Complaints, Exit


def check_format(
    record: Mapping[str, Any], known: Sequence[int], where: object, hint: str, absent: int | None = None
) -> int:
    """The format of a record that was read from `where`; Complaints (something failed) for one that is not known.

    `absent` is the format of records that say none: those of a kind that had none when it began.
    """
    found = record.get("format", absent)
    if isinstance(found, int) and not isinstance(found, bool) and found in known:
        return found
    what = "says no format" if found is None else f"is of format {str(found)[:40]}, which is unknown here"
    *others, last = map(str, known)
    valid = " or ".join([", ".join(others), last]) if others else last
    raise Complaints.one(str(where), what, f"format {valid}", hint, Exit.FAILED)
