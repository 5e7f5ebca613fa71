# SPDX-License-Identifier: Apache-2.0
"""What the models make of right files; wrong ones are in test_model_load.py."""

import random

import pytest

from pathwarp.model.schema.scenario import Change
from pathwarp.model.schema.topology import Loss, Shape, Topology
from pathwarp.model.schema.variant import Variant, resolve


def shape(**changes):
    return Shape.model_validate({"rate": "30 Mbit/s", "delay": "40 ms", "queue": "500 packets"} | changes)


def topology(*paths):
    side = {"rate": "1 Mbit/s", "delay": "1 ms", "queue": "10 packets"}
    return Topology.model_validate(
        {
            "name": "t",
            "title": "t",
            "hosts": ["server", "client"],
            "paths": {path: {"middle": f"m-{path}", "mtu": "1500 B", "down": side, "up": side} for path in paths},
        }
    )


@pytest.mark.parametrize(
    ("rate", "delay", "limit"),
    [
        ("30 Mbit/s", "40 ms", 500 + 100),  # exactly 100 packets of 1500 B on the wire
        ("30 Mbit/s", "40.0001 ms", 500 + 101),  # rounded up
        ("30 Mbit/s", "0 ms", 500),
        ("10 Mbit/s", "40 ms", 500 + 34),
    ],
)
def test_limit_counts_the_packets_on_the_wire_too(rate, delay, limit):
    netem = shape(rate=rate, delay=delay).netem(1500)
    assert netem["limit_packets"] == limit
    assert netem["queue_packets"] == 500


def test_loss_in_its_two_forms():
    assert shape().netem(1500)["loss"] is None
    assert shape(loss="0 %").netem(1500)["loss"] is None
    assert shape(loss="1 %").netem(1500)["loss"] == {"kind": "random", "fraction": 0.01}
    gemodel = shape(loss={"mean": "20 %", "burst": "4 packets"}).netem(1500)["loss"]
    assert gemodel == {"kind": "gemodel", "p": pytest.approx(0.2 * 0.25 / 0.8), "r": 0.25}


@pytest.mark.parametrize(("mean", "burst"), [("1 %", "4 packets"), ("20 %", "2.5 packets"), ("50 %", "1 packet")])
def test_gilbert_elliott_gives_the_mean_loss_and_the_mean_burst(mean, burst):
    """netem's own steps: the state moves first and decides the next packet, all packets of the bad state are lost."""
    loss = Loss.model_validate({"mean": mean, "burst": burst})
    netem = loss.netem()
    chance = random.Random(7)
    bad, lost, bursts, packets = False, 0, 0, 400_000
    for _ in range(packets):
        if bad:
            lost += 1
            bad = chance.random() >= netem["r"]
        elif chance.random() < netem["p"]:
            bad = True
            bursts += 1
    assert lost / packets == pytest.approx(loss.mean_fraction, rel=0.05)
    assert lost / bursts == pytest.approx(loss.burst_packets, rel=0.05)


def test_models_do_not_change():
    with pytest.raises(ValueError, match="frozen"):
        shape().rate_bit_s = 1


def test_a_change_keeps_what_it_does_not_name():
    changed = Change.model_validate({"delay": "1 s", "loss": "5 %"}).apply(shape())
    assert changed == shape(delay="1 s", loss="5 %")


def test_a_variant_inherits_and_overrides():
    first = Variant(name="a", title="a", source="s", transport="tcp", sysctls={"net.x": 0, "net.y": "1 2"})
    second = Variant(name="b", title="b", source="s", extends="a", sysctls={"net.x": 3})
    resolved = resolve([first, second])
    assert resolved.chain == ("a", "b")
    assert resolved.transport == "tcp"
    assert resolved.sysctls == {"net.x": "3", "net.y": "1 2"}
    assert resolve([Variant(name="a", title="a", source="s")]).transport == "mptcp"
