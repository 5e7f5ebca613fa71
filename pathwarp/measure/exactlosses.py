# SPDX-License-Identifier: Apache-2.0
"""The packets that a scenario has lost: which they were, and that the captures agree."""

from typing import Any

import numpy as np

from pathwarp.base.broken import broken
from pathwarp.measure.inputs import Inputs
from pathwarp.measure.linklosses import counted_loss
from pathwarp.measure.transports import answers
from pathwarp.measure.transports.packets import Packets
from pathwarp.measure.transports.subflows import Connection, Decoded
from pathwarp.model.schema.exactloss import MOST_COPIES


def exact_losses(
    inputs: Inputs, connection: Connection, decoded: dict[tuple[str, str], Decoded], packets: Packets
) -> list[dict[str, Any]]:
    """Return an entry for each of the plan's losses, with the copies that were sent, in the order of their numbers.

    Raises Complaints where a copy arrived that was to be lost, or where more came by than the guest counted.
    """
    found = []
    for number, target in enumerate(inputs.plan.get("losses", [])):
        met = inputs.guest["losses"][number]
        if "number" in target:
            found.append(counted_loss(inputs, connection, packets, target, met, f"losses.{number}"))
            continue
        rows = (
            _data(inputs, packets, target) if target["what"] == "data" else _acks(inputs, connection, decoded, target)
        )
        copies = [
            {
                "copy": copy,
                "path": inputs.paths[path],
                "sent_s": (sent_ns - inputs.flow_start_ns) / 1e9,
                "lost": bool(target["copies"] >> min(copy, MOST_COPIES) - 1 & 1),
            }
            for copy, (sent_ns, path, _) in enumerate(rows, start=1)
        ]
        where = inputs.folder / "captures"
        for copy, (_, _, arrived) in zip(copies, rows, strict=True):
            if arrived and copy["lost"]:
                raise broken(where, f"have copy {copy['copy']} of losses.{number} arrive, which was to be lost")
        # A path that is down may take copies before they are counted, and the guest counts for longer than it captures.
        if not inputs.failures and met["seen"] < len(copies):
            raise broken(where, f"have {len(copies)} copies of losses.{number}, the guest counted {met['seen']}")
        lost = [copy for copy in copies if copy["lost"]]
        if not lost:
            raise broken(where, f"have no copy of losses.{number} that was lost")
        found.append({"what": target["what"], "byte": target["byte"], "copies": len(copies), "lost": lost})
    return found


def _data(inputs: Inputs, packets: Packets, target: dict) -> list[tuple[int, int, bool]]:
    """When and on which path the packets that hold the byte were sent, and whether they arrived."""
    own = (packets.offset <= target["byte"]) & (packets.end > target["byte"])
    if target["path"]:
        own &= packets.path == inputs.paths.index(target["path"])
    rows = np.flatnonzero(own)
    columns = (packets.time_ns[rows], packets.path[rows], packets.delivered[rows])
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _acks(
    inputs: Inputs, connection: Connection, decoded: dict[tuple[str, str], Decoded], target: dict
) -> list[tuple[int, int, bool]]:
    """The same of the packets without data that acknowledge the byte."""
    rows = [
        (answer.sent_ns, inputs.paths.index(answer.path), answer.arrived_ns is not None)
        for answer in answers.covering(inputs, connection, decoded, target["byte"])
        if target["path"] in ("", answer.path)
    ]
    return sorted(rows)
