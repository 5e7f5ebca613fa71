# SPDX-License-Identifier: Apache-2.0
"""Machines by hand: `vagrant up`, `vagrant ssh`, `vagrant destroy`."""

import os
import subprocess

from machines import MACHINES, assert_nothing_is_left, network
from project_folder import ROOT

from pathwarp.model.catalogue import VARIANT, Catalogue
from pathwarp.model.load import load_variant
from pathwarp.prepare.kernel import find_kernel


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
