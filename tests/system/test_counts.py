# SPDX-License-Identifier: Apache-2.0
"""Reinjections are counted by the engine, by tshark and by the kernel, and the three agree."""

import pytest


@pytest.mark.parametrize("variant", ["rto", "tlp-std", "pto", "rej-k1"])
def test_three_counts_of_a_failure_agree(project, variant):
    chosen = ("--scenario", "silent", "--traffic", "stream", "--variant", variant)
    status, _, errors = project.call("run", *chosen, "--runs", "1")
    assert status == 0, errors
    folder = project.root / "results" / "silent" / variant / "stream" / "seed-001"
    counted = project.make("counts", f"a={folder}")
    assert counted.returncode == 0, counted.stdout + counted.stderr
    assert "all agree" in counted.stdout
    numbers = {line.split()[0]: line.split()[1] for line in counted.stdout.splitlines()[1:3]}
    assert numbers["captures"] == numbers["tshark"] != "0"


def test_what_is_no_run_folder_is_refused(project):
    counted = project.make("counts", f"a={project.root}")
    assert counted.returncode == 2
    assert "is not a run folder" in counted.stderr
