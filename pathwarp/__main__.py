# SPDX-License-Identifier: Apache-2.0
"""`python -m pathwarp`."""

import sys

from pathwarp.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
