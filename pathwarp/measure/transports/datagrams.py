# SPDX-License-Identifier: Apache-2.0
"""UDP: how many of a flow's datagrams were sent, and how many of them arrived."""

import numpy as np

from pathwarp.measure.inputs import Inputs
from pathwarp.measure.transports.carried import Carried
from pathwarp.measure.transports.subflows import Decoded
from pathwarp.wire import udp


def carried(inputs: Inputs, decoded: dict[tuple[str, str], Decoded], from_ns: int, until_ns: int) -> Carried:
    """Return what the flow of a plan's orders did; its bytes are those from `from_ns` to before `until_ns` (epoch).

    Its datagrams go to its port. All take the preferred path.
    """
    path = inputs.plan["preferred_path"]
    sent, got = (_own(inputs, decoded[host, path], path) for host in inputs.ends)
    time_ns, size = got
    in_time = (time_ns >= from_ns) & (time_ns < until_ns)
    return Carried(len(sent[0]), len(sent[0]) - len(time_ns), None, None, {path: int(size[in_time].sum())})


def _own(inputs: Inputs, seen: Decoded, path: str) -> tuple[np.ndarray, np.ndarray]:
    """When a capture has the flow's datagrams (epoch ns), and their payload in bytes."""
    source, target = (inputs.address(host, path) for host in inputs.ends)
    ports = udp.destination_ports(seen.capture, seen.ip)
    own = (seen.ip.src == source) & (seen.ip.dst == target) & (ports == inputs.plan["port"])
    size = seen.ip.total_len[own].astype(np.int64) - seen.ip.header_len[own] - udp.HEADER_BYTES
    return seen.capture.time_ns[seen.ip.row[own]], size
