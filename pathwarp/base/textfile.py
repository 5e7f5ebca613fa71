# SPDX-License-Identifier: Apache-2.0
"""Write a text file whole or not at all."""

import os
from pathlib import Path

from pathwarp.base import interrupt
from pathwarp.base.complaints import Complaints


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path`; a missing folder is made. Complaints where that cannot be."""
    interrupt.check()
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            draft.write_text(text, encoding="utf-8", newline="\n")
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise Complaints.one(
            str(path), f"cannot be written: {error.strerror}", "a file in a folder that may be written"
        ) from None
