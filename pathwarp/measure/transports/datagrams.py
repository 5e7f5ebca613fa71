# SPDX-License-Identifier: Apache-2.0
"""UDP: how many of a flow's datagrams were sent, and how many of them arrived."""

from pathwarp.measure.inputs import Inputs
from pathwarp.measure.transports.subflows import Decoded
from pathwarp.wire import udp


def count(inputs: Inputs, decoded: dict[tuple[str, str], Decoded]) -> tuple[int, int]:
    """Return how many datagrams to the plan's port the sender's capture has, and how many of these the receiver's."""
    path = inputs.plan["preferred_path"]
    source, target = (inputs.address(host, path) for host in inputs.ends)
    numbers = []
    for host in inputs.ends:
        seen = decoded[host, path]
        ports = udp.destination_ports(seen.capture, seen.ip)
        own = (seen.ip.src == source) & (seen.ip.dst == target) & (ports == inputs.plan["port"])
        numbers.append(int(own.sum()))
    return numbers[0], numbers[1]
