# SPDX-License-Identifier: Apache-2.0
"""Model of what a variant sends when a timer of a subflow fires, from which its recovery can be predicted."""

from typing import Annotated, Literal

from pydantic import Field

from pathwarp.model.schema.common import Part

# Of what is in flight on the subflow: its first packet, its last one, or all of it.
Which = Literal["none", "first", "last", "all"]


class Answer(Part):
    """What goes out on the same subflow, and what on another one."""

    same: Which = "none"
    other: Which = "none"


class Rejection(Answer):
    """The same for a timer of SRTT + K RTTVAR; `k` names the sysctl that has K."""

    k: Annotated[str, Field(pattern=r"net(\.\w+)+")]


class Timing(Part):
    """`pto` is the timer of probes, `rto` that of retransmissions, `rej` that of SRTT + K RTTVAR, each where there is
    one; `connection` is the one that mainline has for the connection as a whole, and `stale` is what follows when that
    has fired more than `net.mptcp.stale_loss_cnt` times without a word from the subflow.
    """

    pto: Answer | None = None
    rto: Answer | None = None
    rej: Rejection | None = None
    connection: Answer | None = None
    stale: Answer | None = None
