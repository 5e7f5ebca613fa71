# SPDX-License-Identifier: Apache-2.0
"""Being called by make: its command line has the options, and its exit status should be the engine's."""

import os
import re
import sys
from collections.abc import MutableMapping

from pathwarp.base.engine import ENGINE

# The first argument says that make calls.
CALLED = "--make"
PREFIX = "PATHWARP_"
# What the environment may say all the same: it is no option of make's.
_ROOT = f"{PREFIX}ROOT"
_END = ENGINE / "playbooks" / "end-make.sh"
# A word of MAKEFLAGS: blanks and backslashes in it have a backslash before them.
_WORD = re.compile(r"(?:[^ \t\\]|\\.)+", re.DOTALL)


def given(flags: str) -> dict[str, str]:
    """The variables of make's command line, name to value as typed, from MAKEFLAGS (quote_for_env in GNU make)."""
    words = [re.sub(r"\\(.)", r"\1", word, flags=re.DOTALL) for word in _WORD.findall(flags)]
    variables = words[words.index("--") + 1 :] if "--" in words else []
    # Make doubles the dollars; a name may have the colon of := behind it.
    pairs = (word.replace("$$", "$").partition("=") for word in variables)
    return {name.rstrip(":+?!"): value for name, _, value in pairs}


def take_options(environment: MutableMapping[str, str]) -> None:
    """Have the environment give the options that make was given, and no others; nothing else of make's stays in it."""
    variables = given(environment.get("MAKEFLAGS", ""))
    for name in list(environment):
        if name.startswith(("MAKE", "MFLAGS")) or (name.startswith(PREFIX) and name != _ROOT):
            del environment[name]
    environment.update({f"{PREFIX}{name.upper()}": value for name, value in variables.items()})


def finish(status: int) -> None:
    """End as the engine did, and make with it; returns where make's own status says the same."""
    if status not in (0, 2):
        sys.stdout.flush()
        os.execv(_END, [str(_END), str(status)])
