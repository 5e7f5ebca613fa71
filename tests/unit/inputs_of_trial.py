# SPDX-License-Identifier: Apache-2.0
"""What a trial's id is made of, with made-up products of the build."""

from typing import Any

from pathwarp.plan.identity import Inputs, hash_orders, trial_id
from pathwarp.plan.orders import orders
from pathwarp.plan.trial import Trial

RELEASE = "6.12-pathwarp-plain"


def inputs_of(trial: Trial, **others: Any) -> Inputs:
    """The trial's orders, and `others` in place of what stands for the rest."""
    inputs: Inputs = {
        "orders": hash_orders(orders(trial, RELEASE)),
        "boot": ["unshare", "sh", "vms/uml-start.sh", "KERNEL", "384M", str(trial.seed)],
        "boot_files": {"vms/uml-start.sh": "7" * 64},
        "guest": {"pathwarp/guest/trial.py": "3" * 64},
        "ground": "",
        "kernel": "1" * 64,
        "lab": {"packages": "2" * 64, "recipe": "8" * 64},
    }
    return {**inputs, **others}


def id_of(trial: Trial, **others: Any) -> str:
    return trial_id(inputs_of(trial, **others))
