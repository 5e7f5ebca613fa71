# SPDX-License-Identifier: Apache-2.0
"""User Mode Linux: the guest is a process of the user, in virtual time or at the wall clock's pace."""

from pathwarp.model.backends.backend import VIRTUAL_MODE, WALL_CLOCK_MODE, Backend, Pace

BACKEND = Backend(
    name="uml",
    title="virtual time",
    paces={
        "virtual": Pace(VIRTUAL_MODE, "virtual", alone=False),
        "real": Pace(WALL_CLOCK_MODE, "real UML", alone=True),
    },
    settings="vms/uml.yaml",
    boot_files=("vms/uml-start.sh", "vms/decode.sh"),
)
