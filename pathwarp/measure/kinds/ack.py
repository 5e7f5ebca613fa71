# SPDX-License-Identifier: Apache-2.0
"""A packet without data from the receiver."""

from pathwarp.measure.kinds.kind import PacketKind

KIND = PacketKind(key="ack", legend="ACK", noun="ACK", colour="#A6A6A6", drawn=60)
