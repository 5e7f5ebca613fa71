# SPDX-License-Identifier: Apache-2.0
"""`bin/pathwarp`, which calls this file, and `python -m pathwarp`."""

import os
import sys

if not __package__:
    # Called as a file: its folder's parent has the package, and nothing else is taken from where the user is.
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from pathwarp.base import interrupt


def run(arguments: list[str]) -> int:
    """Note requests to end before anything else is imported, and run the command."""
    interrupt.begin()
    try:
        from pathwarp import make
        from pathwarp.base import output
        from pathwarp.cli import main

        output.install()
        if arguments[:1] != [make.CALLED]:
            return main(arguments)
        make.take_options(os.environ)
        status = main(arguments[1:])
    finally:
        interrupt.end()
    make.finish(status)
    return status


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
