# SPDX-License-Identifier: Apache-2.0
"""The transports whose flows can be measured, by the name that plans call them."""

from collections.abc import Callable

from pathwarp.measure.inputs import Inputs
from pathwarp.measure.transports import datagrams, streams
from pathwarp.measure.transports.carried import Carried
from pathwarp.measure.transports.subflows import Decoded

TRANSPORTS: dict[str, Callable[[Inputs, dict[tuple[str, str], Decoded], int, int], Carried]] = {
    "tcp": streams.carried,
    "mptcp": streams.carried,
    "udp": datagrams.carried,
}
