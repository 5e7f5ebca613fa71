# SPDX-License-Identifier: Apache-2.0
"""The init program of a User Mode Linux guest: one trial from mounting to power-off."""

import kernel
from trial import conduct

try:
    conduct(kernel.mount_everything)
finally:
    kernel.power_off()
