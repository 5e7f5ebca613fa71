# SPDX-License-Identifier: Apache-2.0
"""`python -m pathwarp`."""

import signal
import sys


def run() -> int:
    """Run the command; an interruption that comes before it has begun ends it as one that comes later."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        from pathwarp.cli import main

        return main(sys.argv[1:])
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(run())
