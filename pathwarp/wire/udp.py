# SPDX-License-Identifier: Apache-2.0
"""UDP headers of a capture as columns."""

import numpy as np

from pathwarp.wire.pcap import Capture, gather
from pathwarp.wire.tcp import Ipv4Columns

PROTOCOL_UDP = 17
HEADER_BYTES = 8


def destination_ports(capture: Capture, ip: Ipv4Columns) -> np.ndarray:
    """Return the UDP destination port of each IPv4 packet; 0 for one of another protocol, or cut short."""
    whole = (ip.protocol == PROTOCOL_UDP) & (ip.fragment == 0) & (ip.cap_len >= ip.header_len + HEADER_BYTES)
    ports = np.zeros(len(ip.row), np.int64)
    ports[whole] = gather(capture.data, ip.at[whole] + ip.header_len[whole] + 2, ">u2")
    return ports
