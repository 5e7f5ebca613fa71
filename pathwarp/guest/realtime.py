# SPDX-License-Identifier: Apache-2.0
"""Processes that sleep as long as they ask for."""

import contextlib
import os
from collections.abc import Iterator


@contextlib.contextmanager
def punctual() -> Iterator[None]:
    """Have the processes that are started here be real-time ones.

    Others' select(2) may oversleep by a thousandth of its timeout (select_estimate_accuracy).
    """
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
