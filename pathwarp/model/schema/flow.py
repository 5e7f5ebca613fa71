# SPDX-License-Identifier: Apache-2.0
"""Model of a flow, an entry of a scenario's `flows`: who sends to whom, by which application, over which transport."""

from typing import Annotated, Literal

from pydantic import Field

from pathwarp.model.schema.common import Device, DurationNs, Name, Part

MOST_FLOWS = 64

# The applications that there are: each is a module of the guest's `apps` and of measure's.
Application = Literal["ditg"]
Transport = Literal["mptcp", "tcp", "udp"]


class Flow(Part):
    """The primary flow is what the scenario's traffic, duration and metrics are about; the others are load.

    Load has its own `traffic`, a workload, and lasts from `start` to `stop`, or the end. A flow's data takes the
    scenario's preferred path if that leads between its hosts, or else the first that does; over MPTCP all of them.
    """

    name: Name
    application: Application = "ditg"
    sender: Annotated[Device, Field(alias="from")]
    receiver: Annotated[Device, Field(alias="to")]
    primary: bool = False
    transport: Transport | None = None
    traffic: Name | None = None
    start_ns: Annotated[DurationNs, Field(alias="start")] = 0
    stop_ns: Annotated[DurationNs | None, Field(alias="stop")] = None
