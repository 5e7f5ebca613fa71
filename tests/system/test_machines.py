# SPDX-License-Identifier: Apache-2.0
"""Trials in virtual machines, and machines by hand: what they give, what they leave alone, and what is left of them."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from project_folder import ROOT, left_over, processes_below

from pathwarp.measure.analysis import Analysis, analyse
from pathwarp.model.catalogue import VARIANT, Catalogue
from pathwarp.model.load import load_variant
from pathwarp.prepare.kernel import find_kernel
from pathwarp.run.guests.processes import wait_for

MACHINES = (ROOT / "build").resolve() / "vm"
RUN = ("run", "--scenario", "silent", "--traffic", "single")
VM = (*RUN, "--backend", "vm")
PATHS = ("wlan", "4g")
PATIENCE_S = 300
# By how much recovery may differ from virtual time, on a machine that costs the packets nothing.
BOUND_MS = 10


def network() -> dict[str, str]:
    """The host's interfaces, routes and rules, in the words of the tools that show them."""
    shows = ("ip address", "ip route show table all", "ip rule", "nft list ruleset", "iptables-save", "bridge link")
    said = {}
    for show in shows:
        try:
            said[show] = subprocess.run(show.split(), capture_output=True, text=True, check=False).stdout
        except FileNotFoundError:
            continue
    lines = said["ip address"].splitlines()
    # A lifetime counts down by itself.
    return {**said, "ip address": "\n".join(line for line in lines if "valid_lft" not in line)}


def wait_for_trial(process: subprocess.Popen) -> None:
    """Return once a trial is at work in a machine."""
    until = time.monotonic() + PATIENCE_S
    descriptor = os.pidfd_open(process.pid)
    try:
        while not any("/opt/pathwarp/machine.py" in line for line in processes_below(MACHINES.parent).values()):
            assert not wait_for(descriptor, 0.2), process.communicate()
            assert time.monotonic() < until
    finally:
        os.close(descriptor)


def emulators() -> list[int]:
    return [number for number, line in processes_below(MACHINES).items() if line.startswith("/usr/bin/qemu-system")]


def assert_nothing_is_left(state: Path) -> None:
    assert left_over(state) == {}
    assert not state.exists()


def spans_ms(trial: Analysis) -> dict[str, list[float]]:
    """Path -> from the failure's first packet to each packet that repeats it there."""
    table = trial.packets
    lost = int((~table.delivered).argmax())
    same = (table.offset == table.offset[lost]) & (np.arange(len(table)) > lost)
    since_ns = table.time_ns - table.time_ns[lost]
    return {path: (since_ns[same & (table.path == number)] / 1e6).tolist() for number, path in enumerate(PATHS)}


def transit_ms(trial: Analysis, path: str) -> np.ndarray:
    """How long each packet that a path delivered took."""
    table = trial.packets
    chosen = table.delivered & (table.path == PATHS.index(path))
    return (table.arrival_ns - table.time_ns)[chosen] / 1e6


def error_ms(real: Analysis, virtual: Analysis) -> float:
    """The machine's clock and scheduling error: how much longer than in virtual time a packet took, at the worst."""
    late = [transit_ms(real, path).max() - np.median(transit_ms(virtual, path)) for path in PATHS]
    return max(0.0, *late)


def agree(folder: Path, virtual: Path) -> bool:
    """Whether a trial in a machine repeated what was lost as often, and the first time at the same instant, as the
    one in virtual time.
    """
    one, other = analyse(folder), analyse(virtual)
    ours, theirs = spans_ms(one), spans_ms(other)
    # A timer that counts on the round trip has the error of both ways in it.
    bound_ms = BOUND_MS + 2 * error_ms(one, other)
    return all(
        len(ours[path]) == len(theirs[path]) and all(abs(x - y) <= bound_ms for x, y in zip(*firsts, strict=True))
        for path in PATHS
        for firsts in [(ours[path][:1], theirs[path][:1])]
    )


def test_a_trial_in_a_machine_is_sealed_and_recovers_as_in_virtual_time(project):
    # An emulated CPU may take a quarter of a second to begin a failure. It must meet the same burst, the one at 5 s.
    project.replace("scenarios/silent.yaml", "{at: 4.9 s", "{at: 4.3 s")
    before = network()
    process = project.start(*VM, "--variant", "tlp-mp", "--runs", "3")
    wait_for_trial(process)
    assert network() == before
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    assert network() == before
    assert_nothing_is_left(MACHINES / "run")
    assert project.unsealed() == []
    assert "silent+backend=vm" in output
    assert project.call(*RUN, "--variant", "tlp-mp", "--runs", "3")[0] == 0
    for variant in ("tlp-std", "tlp-mp"):
        folders = sorted((project.root / "results" / "silent+backend=vm" / variant / "single").iterdir())
        for folder in folders:
            manifest = json.loads((folder / "manifest.json").read_text())
            assert (manifest["backend"], manifest["time_mode"]) == ("vm", "wall-clock")
            assert manifest["machine"]["accelerator"] in ("kvm", "qemu")
            # The kernel of tlp-std, which has no patches of its own.
            kernel = "rto" if variant == "tlp-std" else variant
            assert manifest["kernel"]["release"].endswith(f"-pathwarp-{kernel}")
        # Somebody else's work on the host can disturb one in real time, but not all.
        virtual = project.root / "results" / "silent" / variant / "single"
        assert any(agree(folder, virtual / folder.name) for folder in folders), [
            spans_ms(analyse(side / folder.name)) for folder in folders for side in (folder.parent, virtual)
        ]
    assert project.call("verify", "--scenario", "silent", "--traffic", "single")[0] == 0


def test_a_machine_that_is_killed_fails_its_trial_and_not_the_next(project):
    process = project.start(*VM, "--variant", "tlp-std", "--runs", "2")
    wait_for_trial(process)
    (emulator,) = emulators()
    os.kill(emulator, signal.SIGKILL)
    output, errors = process.communicate()
    assert process.returncode == 1
    assert "the virtual machine is gone: shut off (crashed)" in output + errors
    assert [folder.name for folder in project.sealed()] == ["seed-002"]
    assert_nothing_is_left(MACHINES / "run")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_engine_that_ends_takes_its_machine_along(project, number):
    process = project.start(*VM, "--variant", "tlp-std")
    wait_for_trial(process)
    process.send_signal(number)
    process.communicate()
    assert left_over(MACHINES) == {}
    assert project.sealed() == []


def test_a_machine_that_falls_silent_fails_its_trial(project):
    project.replace("vms/vm.yaml", "silence: 1 min", "silence: 12 s")
    process = project.start(*VM, "--variant", "tlp-std")
    wait_for_trial(process)
    (emulator,) = emulators()
    os.kill(emulator, signal.SIGSTOP)
    output, _ = process.communicate()
    assert process.returncode == 1
    assert "the virtual machine does not answer" in output
    assert_nothing_is_left(MACHINES / "run")


def test_a_machine_that_does_not_start_fails_its_trial(project):
    project.replace("vms/vm.yaml", "boot: 3 min", "boot: 1 s")
    status, output, _ = project.call(*VM, "--variant", "tlp-std")
    assert status == 1
    assert "vagrant can't start the machine" in output
    (console,) = (project.root / "results" / ".failed").glob("*/tlp-std/single/seed-001/logs/console.txt")
    assert "Timed out while waiting for the machine to boot" in console.read_text()
    assert_nothing_is_left(MACHINES / "run")


def test_several_jobs_are_refused(project):
    status, _, errors = project.call(*VM, "--jobs", "2")
    assert status == 2
    assert "jobs: a virtual machine has this one for itself" in errors


def test_vagrant_and_the_engine_take_the_same_kernel():
    catalogue = Catalogue(ROOT)
    names = catalogue.names(VARIANT)
    folder = str(ROOT / "kernels" / "variants")
    program = "folder, *names = ARGV; names.each { |name| puts Pathwarp.kernel(folder, name) }"
    command = ["ruby", "-r", str(ROOT / "vms/libvirt/kernel.rb"), "-e", program, folder, *names]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.split() == [find_kernel(ROOT, load_variant(catalogue, name)).name for name in names]


def test_a_machine_by_hand(tmp_path):
    environment = {
        **os.environ,
        "VAGRANT_CWD": str(ROOT),
        "VAGRANT_DOTFILE_PATH": str(tmp_path / "dotfiles"),
        "VAGRANT_HOME": str(tmp_path / "home"),
    }

    def vagrant(*words: str, **more: str) -> str:
        done = subprocess.run(
            ["vagrant", *words], env={**environment, **more}, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    before = network()
    try:
        output = vagrant("up", VARIANT="tlp-mp")
        accelerator = subprocess.run([ROOT / "vms/libvirt/accelerator.sh"], capture_output=True, text=True).stdout
        assert ("this host offers no KVM" in output) == (accelerator.strip() != "kvm")
        assert network() == before
        said = vagrant("ssh", "-c", "uname -r; sysctl net.mptcp; ls pathwarp; sudo id -un")
        assert said.splitlines()[0].endswith("-pathwarp-tlp-mp")
        assert "net.mptcp.enabled = 1" in said
        assert {"scenarios", "topologies", "README.md", "root"} <= set(said.splitlines())
    finally:
        vagrant("destroy", "-f")
    assert network() == before
    assert_nothing_is_left(MACHINES / "hand")
