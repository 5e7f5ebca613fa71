# SPDX-License-Identifier: Apache-2.0
"""Virtual machines in real time: the same guest code on the same lab root, with a variant's kernel on KVM or QEMU."""

from pathlib import Path

from pathwarp.plan.kit import Work
from pathwarp.run.guests.guest import GuestFailed, last_lines, panic
from pathwarp.run.guests.machine import RUN_TRIAL, Machine, MachineFailed, VmSettings, accelerator


class Vm:
    """The machines of one project folder: one at a time, which does the trials of its variant one after the other.

    Nobody else has logged into it: it is not the one that `vagrant up` gives.
    """

    def __init__(self, root: Path) -> None:
        """Complaints for all that is wrong with the settings."""
        self.root = root
        self.settings = VmSettings.of(root)
        self.machine: Machine | None = None

    @staticmethod
    def ground(root: Path) -> str:
        """`kvm`, or `qemu` for software emulation."""
        return accelerator(root)

    def boot(self, trial: Work) -> list[str]:
        """What the Vagrantfile takes from the settings, and what is called in the machine."""
        return [f"memory={self.settings.memory}", *RUN_TRIAL]

    def run(self, kernel: Path, run: Path, trial: Work) -> None:
        """Run a trial in its variant's machine; GuestFailed when it does not get to its end.

        `kernel` must be the folder that the Vagrantfile finds for the variant (vms/libvirt/kernel.rb). After a failure
        the next trial gets a new machine.
        """
        name = trial.variant.name
        try:
            if self.machine is None or self.machine.variant != name:
                self.close()
                self.machine = Machine(self.root, name, self.settings, run)
            self.machine.run(run, self.settings.watchdog.wall_s(trial.virtual_s))
        except BaseException as error:
            self.close()
            if isinstance(error, MachineFailed):
                raise GuestFailed(f"{panic(run) or error}{last_lines(run)}") from None
            raise

    def close(self) -> None:
        """End the machine; nothing of it is left."""
        if self.machine is not None:
            self.machine.close()
            self.machine = None


GUESTS = Vm
