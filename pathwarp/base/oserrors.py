# SPDX-License-Identifier: Apache-2.0
"""What to do about the errors of a file system."""

import errno

_ADVICE = {
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some space, or have your quota raised",
    errno.EROFS: "mount it writable, or work on a copy of the project",
    errno.EACCES: "make the folder writable for you",
    errno.EPERM: "make the folder writable for you",
    errno.ENOTDIR: "move the file that is in the way",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
    errno.ENOMEM: "run fewer guests side by side: jobs=N",
}


def advice(error: OSError) -> str:
    """What to do about an error, in words; empty when there is nothing to say."""
    return _ADVICE.get(error.errno or 0, "")


def describe(error: OSError) -> str:
    """File, error, and what to do about it, in a line."""
    words = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
    hint = advice(error)
    return f"{words}; {hint}" if hint else words
