# SPDX-License-Identifier: Apache-2.0
"""Virtual machines of libvirt, on KVM or QEMU: whatever a scenario says, their time is real."""

from pathwarp.model.backends.backend import WALL_CLOCK_MODE, Backend, Pace

_PACE = Pace(WALL_CLOCK_MODE, "VM", alone=True)

BACKEND = Backend(
    name="vm",
    title="wall clock",
    paces={"virtual": _PACE, "real": _PACE},
    settings="vms/vm.yaml",
    boot_files=("vms/box", "vms/libvirt", "vms/decode.sh", "playbooks/box.yml", "Vagrantfile"),
    alone=True,
    why_alone="a virtual machine has this one for itself",
    programs=("libvirtd", "qemu-system-x86_64", "ssh", "vagrant", "virsh"),
    has_box=True,
)
