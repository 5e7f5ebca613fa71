# SPDX-License-Identifier: Apache-2.0
"""How far trials in virtual and in real time differ: the sender's timers from captures, and the table."""

import pytest
from golden_project import copy_project
from trial_writer import TrialWriter

from pathwarp.base.complaints import Complaints
from pathwarp.compare.agree.report import machines, render
from pathwarp.compare.agree.timers import timers
from pathwarp.compare.agree.ways import WAYS, plan
from pathwarp.measure.analysis import analyse
from pathwarp.model.overrides import Override
from pathwarp.plan.request import Request
from pathwarp.results.reading import TrialResult


@pytest.fixture
def project(tmp_path):
    return copy_project(tmp_path / "project")


@pytest.fixture
def silent(tmp_path):
    """A trial whose WLAN goes silent 90 ms before the second of two packets is sent on it."""
    trial = TrialWriter(tmp_path / "run", bursts=[[0, 500], [1000, 500]])
    trial.open("wlan", -100)
    trial.open("4g", -50)
    trial.send("wlan", 0, 0, 500)
    trial.fail("wlan", 910)
    lost = trial.send("wlan", 1000, 500, 500, lost=True)
    trial.send("wlan", 1213, 500, 500, lost, lost=True)
    trial.send("4g", 1213.5, 500, 500)
    trial.send("wlan", 1429, 500, 500, lost, lost=True)
    trial.log(500, 0, 6.5)
    trial.log(500, 1000, 1254)
    return trial.finish()


def test_timers_are_counted_from_the_first_packet_that_was_taken(silent):
    assert timers(analyse(silent)) == {
        "first retransmission": {0: 213.0},
        "second retransmission": {0: 216.0},
        "reinjection": {0: 213.5},
    }


def test_the_table_has_each_quantity_with_the_others_differences():
    keys = [(seed, 0) for seed in range(1, 7)]
    virtual = {"delay, ms": dict.fromkeys(keys, 400.0), "never, ms": {}}
    real = {"delay, ms": {key: 400.0 + key[0] for key in keys}}
    machine = {"delay, ms": {keys[0]: 404.25}}
    found = dict(zip((way.name for way in WAYS), (virtual, real, machine), strict=True))
    assert render("tlp-mp", "docs", found).splitlines() == [
        "tlp-mp, docs",
        "",
        "quantity   n  virtual, median  real UML - virtual   95 % interval  VM - virtual  95 % interval",
        "delay, ms  6           400.00               +3.50  +1.00 to +6.00         +4.25              -",
        "never, ms  0                -                   -               -             -              -",
    ]


@pytest.mark.parametrize(("kind", "words"), [("kvm", "KVM (QEMU 7.2)"), ("qemu", "tens of times slower than")])
def test_the_accelerator_is_said(kind, words):
    manifest = {"machine": {"accelerator": kind, "emulator": "QEMU 7.2"}}
    assert words in machines([TrialResult("s", "v", "t", 1, {}, manifest)] * 2)


def test_each_way_has_its_own_folder(project):
    planned = plan(Request(project, "cut", runs=1))
    folders = {name: trials[0].folder.parts[1] for name, trials in planned.items()}
    assert folders == {"virtual": "cut", "real UML": "cut+time=real", "VM": "cut+backend=vm"}


def test_time_can_not_be_asked_for(project):
    with pytest.raises(Complaints, match="time: is what this compares"):
        plan(Request(project, "cut", runs=1, overrides=(Override("time", "real"),)))
