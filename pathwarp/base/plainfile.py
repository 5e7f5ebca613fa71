# SPDX-License-Identifier: Apache-2.0
"""Read files that a user gave: neither a pipe, which would never end, nor a device, which would fill the memory."""

import errno
import os
import stat
from pathlib import Path

SIZE_LIMIT_BYTES = 64_000_000


def read_plain(path: Path, limit_bytes: int = SIZE_LIMIT_BYTES) -> bytes:
    """The file's content; OSError also for what is not a file, or longer than `limit_bytes`."""
    # Without O_NONBLOCK the opening of a pipe waits for somebody who writes.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a file", str(path))
        with open(descriptor, "rb", closefd=False) as stream:
            content = stream.read(limit_bytes + 1)
    finally:
        os.close(descriptor)
    if len(content) > limit_bytes:
        raise OSError(errno.EFBIG, f"it is longer than {limit_bytes / 1e6:g} MB", str(path))
    return content
