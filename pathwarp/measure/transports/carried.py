# SPDX-License-Identifier: Apache-2.0
"""What a transport did for a flow: the same numbers whichever it was."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Carried:
    """Numbers of packets with data, and the payload (bytes) that each path delivered in a span of time.

    None where the transport knows no such thing: UDP sends nothing again, and only Multipath TCP on another path.
    """

    sent: int
    lost: int
    retransmitted: int | None
    reinjected: int | None
    arrived_bytes: dict[str, int]
