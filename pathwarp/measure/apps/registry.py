# SPDX-License-Identifier: Apache-2.0
"""The applications whose logs can be measured, by the name that plans call them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pathwarp.measure.apps import ditg
from pathwarp.measure.apps.messages import Messages


@dataclass(frozen=True)
class Application:
    """Where an application's receiver logs, in `logs` of the run folder, and what reads that.

    `primary` is the file of the data's flow, `load` that of another one, by its name.
    """

    primary: str
    load: str
    read: Callable[[Path, int], Messages]


APPLICATIONS = {"ditg": Application("ditg-receiver.txt", "load-{name}-receiver.txt", ditg.read)}
# The data's, which plans don't name.
PRIMARY = APPLICATIONS["ditg"]
