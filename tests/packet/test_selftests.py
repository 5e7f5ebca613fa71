# SPDX-License-Identifier: Apache-2.0
"""The kernel's own tests in virtual time: cases are told, captures change nothing, and noise is that of its seed."""

import json

import pytest
from project_folder import ROOT, Project

from pathwarp.measure.cases import State, read_run
from pathwarp.model.catalogue import SELFTESTS, Catalogue
from pathwarp.model.load import load_variants
from pathwarp.prepare.kernel import group_by_kernel
from pathwarp.wire import pcap

# Quick ones, of which the first sends packets and the second doesn't.
TRANSFERS, TALKS = "mptcp_sockopt", "pm_netlink"
NOISE, NOISE_FOLDER = "2 ms,1in20,mptcp_sockopt", "selftests+noise=2000us-1in20-mptcp_sockopt"


# What every kernel with patches on TCP or MPTCP has to pass; the whole of the tests takes half an hour for each.
SHORT = (TRANSFERS, TALKS, "userspace_pm")
# Some seeds are unlucky for each kernel, mainline's too (docs/investigations/selftests.md); of one seed's ten cases no
# more than these are slower than expected.
UNLUCKY = 2
# With a queue at the bottleneck all goes over both paths, by design.
TWICE = ("rej-k1",)


def patched():
    """The kernels that variants put patches on."""
    variants = load_variants(Catalogue(ROOT), ("all",))
    return [kernel.name for kernel, _ in group_by_kernel(ROOT, variants, SELFTESTS) if kernel.own]


@pytest.fixture(scope="module")
def project(tmp_path_factory, make_project):
    return Project(make_project(tmp_path_factory.mktemp("selftests") / "project"))


def run(project, *words, status=0):
    """The command's output; no case failed, unless the status says so."""
    found, output, errors = project.call("selftests", *words, "--jobs", "1")
    assert found == status, output + errors
    return output


def folder(project, test, scenario="selftests", seed=1, variant="mainline"):
    return project.root / "results" / scenario / variant / test / f"seed-{seed:03d}"


def said(place):
    return (place / "logs" / "output.txt").read_bytes()


def test_the_unpatched_kernel_passes(project):
    output = run(project, "--tests", f"simult_flows,{TRANSFERS},{TALKS}")
    told = read_run(folder(project, "simult_flows"), "simult_flows", "mainline", 1, 0.0)
    assert [case.state for case in told.cases] == [State.PASSED] * 10
    assert "balanced bwidth - reverse direction" in [case.name for case in told.cases]
    assert "3 of 3 runs are sealed already" in run(project, "--tests", f"simult_flows,{TRANSFERS},{TALKS}")
    assert "results: " in output
    assert "not ok" not in (project.root / "results" / "selftests" / "selftests.tap").read_text()


@pytest.mark.parametrize("kernel", patched())
def test_patched_kernels_pass(project, kernel):
    run(project, "--variant", kernel, "--tests", ",".join(SHORT))
    told = [read_run(folder(project, test, variant=kernel), test, kernel, 1, 0.0) for test in SHORT]
    assert [len(one.cases) for one in told] == [11, 22, 37]
    assert {case.state for one in told for case in one.cases} == {State.PASSED}


@pytest.mark.parametrize("kernel", patched())
def test_patched_kernels_use_both_paths(project, kernel):
    found, output, errors = project.call("selftests", "--variant", kernel, "--tests", "simult_flows", "--jobs", "1")
    told = read_run(folder(project, "simult_flows", variant=kernel), "simult_flows", kernel, 1, 0.0)
    assert len(told.cases) == 10, output + errors
    assert found == bool(told.failures)
    slower = [line.text for line in told.output if "transfer slower than expected" in line.text]
    assert len(slower) == len(told.failures)
    assert len(slower) == 10 if kernel in TWICE else len(slower) <= UNLUCKY


def test_captures_change_nothing(project):
    for test in (TRANSFERS, TALKS):
        run(project, "--tests", test)
        run(project, "--tests", test, "--capture")
        captured = folder(project, test, "selftests+capture=1")
        assert said(captured) == said(folder(project, test))
        assert not list((folder(project, test) / "captures").iterdir())
    assert not list((folder(project, TALKS, "selftests+capture=1") / "captures").iterdir())
    files = sorted((folder(project, TRANSFERS, "selftests+capture=1") / "captures").iterdir())
    assert len(files) > 1
    assert min(len(pcap.read(file)) for file in files) > 10


def test_noise_is_that_of_its_seed(project):
    run(project, "--tests", TRANSFERS)
    run(project, "--tests", TRANSFERS, "--noise", NOISE, "--seeds", "2")
    noisy = [folder(project, TRANSFERS, NOISE_FOLDER, seed) for seed in (1, 2)]
    assert len({said(folder(project, TRANSFERS)), *map(said, noisy)}) == 3
    manifest = json.loads((noisy[1] / "manifest.json").read_text())
    assert "um.noise=2:20:1000:2000000:mptcp_sockopt" in manifest["inputs"]["boot"]
