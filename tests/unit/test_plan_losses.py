# SPDX-License-Identifier: Apache-2.0
"""Exact losses: from a packet of a burst to the byte that it holds."""

from types import SimpleNamespace

import pytest

from pathwarp.model.schema.exactloss import ExactLoss
from pathwarp.model.schema.workload import ConstantWorkload
from pathwarp.model.traces import Burst
from pathwarp.plan.losses import Counted, Target, plan_losses

BURSTS = (Burst(0, 400), Burst(1000, 3000), Burst(2000, 100))
WORKLOAD = SimpleNamespace(name="w", packet_bytes=1000)


def byte(workload=WORKLOAD, **loss) -> int:
    scenario = SimpleNamespace(name="s", duration_ns=3_000_000_000, losses=[ExactLoss.model_validate(loss)])
    (target,) = plan_losses(scenario, workload, BURSTS, "t.csv", str)
    return target.byte


@pytest.mark.parametrize(
    ("position", "expected"),
    [("first", 1399), ("last", 3399), (2, 2399), (-1, 3399), (-3, 1399), ("0 %", 400), ("50 %", 1900), ("100 %", 3399)],
)
def test_a_position_in_a_burst_is_a_byte_of_the_stream(position, expected):
    assert byte(burst=1, position=position) == expected


@pytest.mark.parametrize(("position", "expected"), [("first", 399), (2, 1399), ("last", 3499), ("50 %", 1750)])
def test_without_a_burst_it_is_one_in_the_flow(position, expected):
    assert byte(position=position) == expected


def test_a_constant_rate_has_packets_and_no_bursts():
    constant = ConstantWorkload.model_validate(
        {"name": "c", "title": "c", "source": "c", "kind": "constant", "packet": "500 B", "rate": "10 packets/s"}
    )
    assert byte(constant, position="last") == 30 * 500 - 1
    assert byte(constant, position=3) == 1499


@pytest.mark.parametrize(
    ("copies", "bits"), [("first", 0b1), ("all", 2**32 - 1), ([1, 2], 0b11), ([2], 0b10), ([32, 32], 1 << 31)]
)
def test_copies_are_bits(copies, bits):
    assert ExactLoss.model_validate({"position": "last", "copies": copies}).copies == bits


def test_nothing_said_is_not_nothing_lost():
    assert plan_losses(SimpleNamespace(name="s", losses=None), WORKLOAD, BURSTS, "t", str) is None
    assert plan_losses(SimpleNamespace(name="s", losses=(), duration_ns=1), WORKLOAD, BURSTS, "t", str) == ()
    loss = ExactLoss.model_validate({"what": "ack", "position": "last", "path": "wlan"})
    scenario = SimpleNamespace(name="s", losses=(loss,), duration_ns=10**10)
    assert plan_losses(scenario, WORKLOAD, BURSTS, "t", str) == (Target("ack", "wlan", 3499, 1),)


def test_a_packet_of_a_link_is_a_number():
    loss = ExactLoss.model_validate({"of": "link", "what": "ack", "position": 7, "path": "wlan"})
    scenario = SimpleNamespace(name="s", losses=(loss,), duration_ns=10**10)
    assert plan_losses(scenario, WORKLOAD, BURSTS, "t", str) == (Counted("ack", "wlan", 7),)
