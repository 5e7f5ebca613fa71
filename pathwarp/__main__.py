# SPDX-License-Identifier: Apache-2.0
"""`python -m pathwarp`."""

import signal
import sys


def run() -> int:
    """Run the command; an interruption before it has begun ends it as one later on, one at its end does not."""
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        from pathwarp.cli import main

        return main(sys.argv[1:])
    except KeyboardInterrupt:
        return 130
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


if __name__ == "__main__":
    sys.exit(run())
