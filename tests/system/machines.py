# SPDX-License-Identifier: Apache-2.0
"""What virtual machines leave alone, and what is left of them."""

import subprocess
from pathlib import Path

from project_folder import ROOT, left_over

# Where machines have their disks and sockets: those of trials in `run`, one that a user has started in `hand`.
MACHINES = (ROOT / "build").resolve() / "vm"


def network() -> dict[str, str]:
    """The host's interfaces, routes and rules, in the words of the tools that show them."""
    shows = ("ip address", "ip route show table all", "ip rule", "nft list ruleset", "iptables-save", "bridge link")
    said = {}
    for show in shows:
        try:
            said[show] = subprocess.run(show.split(), capture_output=True, text=True, check=False).stdout
        except FileNotFoundError:
            continue
    lines = said["ip address"].splitlines()
    # A lifetime counts down by itself.
    return {**said, "ip address": "\n".join(line for line in lines if "valid_lft" not in line)}


def assert_nothing_is_left(state: Path) -> None:
    assert left_over(state) == {}
    assert not state.exists()
