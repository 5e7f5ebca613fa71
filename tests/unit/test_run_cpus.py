# SPDX-License-Identifier: Apache-2.0
"""Guests of several engines keep off each other's CPUs as long as there are free ones."""

import os

from pathwarp.run import cpus


def test_free_cpus_come_first_and_are_freed_again(monkeypatch):
    # Numbers that no engine takes while this runs.
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {70001, 70002, 70003})
    one, first = cpus.choose(1)
    two, second = cpus.choose(2)
    assert (one, two) == ([70001], [70002, 70003])
    shared, none = cpus.choose(2)
    assert (shared, none) == ([70001, 70002], [])
    for claim in (*first, *second):
        claim.release()
    more, claims = cpus.choose(5)
    assert more == [70001, 70002, 70003, 70001, 70002]
    for claim in claims:
        claim.release()
