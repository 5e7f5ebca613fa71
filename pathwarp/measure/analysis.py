# SPDX-License-Identifier: Apache-2.0
"""A trial's raw files as tables: what all metrics, diagrams and comparisons begin with."""

from dataclasses import dataclass
from pathlib import Path

from pathwarp.base.broken import broken, unusable
from pathwarp.measure import bursts
from pathwarp.measure.apps.messages import Messages, check_constant
from pathwarp.measure.apps.registry import PRIMARY
from pathwarp.measure.inputs import Failure, Inputs, read_inputs
from pathwarp.measure.transports import packets, periods, reinjections, subflows


@dataclass(frozen=True)
class Analysis:
    """A trial's raw files as tables; `periods` are those with several subflows, in (start, end) epoch ns."""

    inputs: Inputs
    decoded: dict[tuple[str, str], subflows.Decoded]
    connection: subflows.Connection
    packets: packets.Packets
    resent: reinjections.Resent
    periods: list[tuple[int, int]]
    messages: Messages
    bursts: bursts.Bursts

    @property
    def failure(self) -> Failure | None:
        """The trial's first failure, which the metrics of bursts look at."""
        return next(iter(self.inputs.failures), None)


def analyse(folder: Path) -> Analysis:
    """Read a run folder's raw files; raises Complaints for what cannot be measured."""
    with unusable(folder):
        return _analyse(folder)


def _analyse(folder: Path) -> Analysis:
    inputs = read_inputs(folder)
    decoded = subflows.load(inputs)
    connection = subflows.find_connection(inputs, decoded)
    table = packets.collect(inputs, connection, decoded)
    log_file = folder / "logs" / PRIMARY.primary
    messages, planned = PRIMARY.read(log_file, inputs.flow_start_ns), bursts.lay_out(inputs.plan)
    bursts.require_planned(planned, messages, log_file)
    if constant := inputs.plan.get("constant"):
        check_constant(messages, constant["packets"], inputs.plan["packet_bytes"], log_file)
    check_whole(inputs, table, messages)
    resent = reinjections.classify(table)
    between = periods.established(inputs, connection, decoded)
    return Analysis(inputs, decoded, connection, table, resent, between, messages, planned)


def check_whole(inputs: Inputs, table: packets.Packets, messages: Messages) -> None:
    """Raise Complaints when the application read more than the captures have: what they lack would go uncounted."""
    read, sent = int(messages.size.sum()), int(table.end.max(initial=0))
    if read > sent:
        what = f"have {sent} bytes of the stream, of which the application read {read}"
        raise broken(inputs.folder / "captures", what, "tcpdump holds packets back for a second: stop it later")
