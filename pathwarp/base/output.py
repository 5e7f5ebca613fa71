# SPDX-License-Identifier: Apache-2.0
"""Standard output and error of a process that notes requests to end: a reader that stalls can't hold it up."""

import io
import os
import select
import sys
from typing import TYPE_CHECKING

from pathwarp.base import interrupt

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Output(io.RawIOBase):
    """Writes to a descriptor when that has room, and raises KeyboardInterrupt for a request to end until then.

    Behind such a request it waits no more: what there is no room for is dropped.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        return True

    def write(self, data: "ReadableBuffer") -> int:
        view = memoryview(data)
        if not interrupt.wait_for_room(self._descriptor):
            return view.nbytes
        # A pipe with room has it for so much at once.
        return os.write(self._descriptor, view[: select.PIPE_BUF])


def install() -> None:
    """Put such streams in the place of `sys.stdout` and `sys.stderr`, where there are any."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None:
            lines = stream.line_buffering or name == "stderr"
            raw = io.BufferedWriter(Output(stream.fileno()))
            new = io.TextIOWrapper(raw, stream.encoding, stream.errors, line_buffering=lines)
            setattr(sys, name, new)
