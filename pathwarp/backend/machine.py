# SPDX-License-Identifier: Apache-2.0
"""A virtual machine from power-on to its end, and what is done in it: Vagrant starts it, ssh does the rest."""

import fcntl
import io
import json
import os
import shutil
import socket
import subprocess
import tarfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pathwarp.backend.guest import CONSOLE
from pathwarp.backend.processes import dying_with_caller
from pathwarp.backend.settings import VmSettings
from pathwarp.build.box import HOST, box_folder

_LAST_LINES = 12
_START_S = 30
# What short commands may take, such as fetching a trial's files.
_COMMAND_S = 300
_RUN = "/run/pathwarp"
_CODE = "/opt/pathwarp"
# A machine that is silent for so long is gone. Under software emulation it can be slow to answer.
_SILENCE_S, _SILENCES = 15, 4
_LOST = 255  # ssh's own exit status


class MachineFailed(Exception):
    """A machine that does not start, does not answer or does not do what it is told."""


class Machine:
    """A running machine with a variant's kernel and the guest's code in it.

    It is in a libvirtd of its own (vms/libvirt/start.sh), which dies with this process, and the machine with it. All
    its files are in `build/vm/run`; only one process of a checkout has that at a time.
    """

    def __init__(self, root: Path, variant: str, settings: VmSettings) -> None:
        """Start it and wait until it answers; MachineFailed when it does not."""
        self.root = root
        self.variant = variant
        # Without links: the name of libvirtd's socket may not be long.
        self.state = (root / "build").resolve() / "vm" / "run"
        self.state.parent.mkdir(parents=True, exist_ok=True)
        self._lock = (self.state.parent / "run.lock").open("w")
        self._libvirtd: subprocess.Popen | None = None
        try:
            # Another run's machine takes its time; two at once would disturb each other.
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            shutil.rmtree(self.state, ignore_errors=True)
            self._start_libvirtd()
            self._vagrant_up(settings.boot_ns / 1e9)
            self._send(root / "pathwarp" / "guest", ("*.py",), _CODE)
        except BaseException:
            self.close()
            raise

    def run(self, run: Path, limit_s: float) -> None:
        """Run the trial whose orders are in a run folder, and bring its raw files back; MachineFailed if it can't be.

        `limit_s` is by the host's clock. The run folder's console.txt gets what program and kernel said.
        """
        before = self._console.stat().st_size
        rooms = "unshare --mount --pid --net --fork --kill-child --mount-proc"
        command = f"sudo {rooms} python3 -B -E -s {_CODE}/machine.py"
        try:
            self._send(run, ("captures", "logs"), _RUN, f"find {_RUN} -mindepth 1 -delete; ")
            with open(run / CONSOLE, "wb") as stream:
                self._ssh(command, limit_s, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream)
            self._fetch(run)
        finally:
            with open(self._console, "rb") as kernel, open(run / CONSOLE, "ab") as stream:
                kernel.seek(before)
                shutil.copyfileobj(kernel, stream)
        (run / "logs" / "machine.json").write_text(json.dumps(self._describe(), sort_keys=True) + "\n")

    def close(self) -> None:
        """End machine and libvirtd, and remove their files."""
        if self._libvirtd is not None:
            self._libvirtd.kill()
            self._libvirtd.wait()
        shutil.rmtree(self.state, ignore_errors=True)
        self._lock.close()

    @property
    def _console(self) -> Path:
        return self.state / f"{self.variant}.console"

    @property
    def _socket(self) -> Path:
        return self.state / "run" / "libvirt" / "libvirt-sock"

    def _start_libvirtd(self) -> None:
        if len(os.fsencode(self._socket)) > 107:
            raise MachineFailed(f"{self._socket} is too long a name for a socket: move the project's folder")
        script = self.root / "vms" / "libvirt" / "start.sh"
        self._libvirtd = subprocess.Popen(
            [str(script), str(self.state)],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=dying_with_caller(),
        )
        deadline = time.monotonic() + _START_S
        while not _answers(self._socket):
            if self._libvirtd.poll() is not None or time.monotonic() > deadline:
                raise MachineFailed(f"libvirtd does not start:{_tail(self.state / 'log' / 'libvirtd.log')}")
            time.sleep(0.05)

    def _vagrant_up(self, limit_s: float) -> None:
        environment = {
            **os.environ,
            "VARIANT": self.variant,
            "PATHWARP_VM_STATE": str(self.state),
            "VAGRANT_CWD": str(self.root),
            "VAGRANT_DOTFILE_PATH": str(self.state / "vagrant"),
            "VAGRANT_HOME": str(self.root / "build" / "vagrant"),
            "VAGRANT_CHECKPOINT_DISABLE": "1",
        }
        log = self.state / "vagrant.log"
        with log.open("wb") as stream:
            self._call(
                ["vagrant", "up", "--provider=libvirt"],
                limit_s + _COMMAND_S,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                failed=lambda status: f"vagrant can't start the machine:{_tail(log)}",
            )

    def _ssh(self, command: str, limit_s: float = _COMMAND_S, **streams: object) -> None:
        """Run a command of the machine's shell as its user."""
        box = box_folder(self.root)
        options = {
            "BatchMode": "yes",
            "HostKeyAlias": HOST,
            "IdentitiesOnly": "yes",
            "IdentityFile": box / "key",
            "LogLevel": "ERROR",
            "ServerAliveCountMax": _SILENCES,
            "ServerAliveInterval": _SILENCE_S,
            "StrictHostKeyChecking": "yes",
            "UserKnownHostsFile": box / "known_hosts",
        }
        words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        port = (self.state / f"{self.variant}.port").read_text()
        self._call(["ssh", "-F", "none", "-p", port, *words, "vagrant@127.0.0.1", command], limit_s, **streams)

    def _call(
        self, command: Sequence[str], limit_s: float, failed: Callable[[int], str] | None = None, **streams: object
    ) -> None:
        """Run a program of the host that ends with this process; MachineFailed when it fails or takes too long."""
        try:
            status = subprocess.run(
                command, timeout=limit_s, preexec_fn=dying_with_caller(), check=False, **streams
            ).returncode
        except subprocess.TimeoutExpired:
            raise MachineFailed(f"the machine was not done after {limit_s:.0f} s of the host's clock") from None
        except FileNotFoundError as error:
            raise MachineFailed(f"there is no program {error.filename}") from None
        if status:
            raise MachineFailed((failed or self._loss)(status))

    def _loss(self, status: int) -> str:
        """Why a command in the machine failed."""
        uri = f"qemu+unix:///system?socket={self._socket}"
        command = ["virsh", "--connect", uri, "domstate", "--reason", f"pathwarp-{self.variant}"]
        state = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if state.returncode:
            return f"libvirtd is gone: {state.stderr.strip()}"
        if not state.stdout.startswith("running"):
            return f"the virtual machine is gone: {state.stdout.strip()}"
        return "the virtual machine does not answer" if status == _LOST else f"the guest's program ended with {status}"

    def _send(self, folder: Path, patterns: Sequence[str], place: str, first: str = "") -> None:
        """Put files and folders below `folder` into a folder of the machine."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for path in sorted(path for pattern in patterns for path in folder.glob(pattern)):
                archive.add(path, path.relative_to(folder).as_posix())
        tar = f"sudo sh -c '{first}tar --extract --no-same-owner --directory={place}'"
        self._ssh(tar, input=packed.getvalue())

    def _fetch(self, run: Path) -> None:
        """Bring a trial's raw files into its run folder; nothing gets out of that (PEP 706)."""
        with open(self.state / "fetched.tar", "w+b") as packed:
            self._ssh(f"sudo tar --create --directory={_RUN} captures logs", stdin=subprocess.DEVNULL, stdout=packed)
            packed.seek(0)
            try:
                with tarfile.open(fileobj=packed, mode="r") as archive:
                    archive.extractall(run, filter="data")
            except tarfile.TarError as error:
                raise MachineFailed(f"the machine's files can't be unpacked: {error}") from None

    def _describe(self) -> dict[str, str]:
        """What the machine runs on, for the manifest."""
        accelerator = [str(self.root / "vms" / "libvirt" / "accelerator.sh")]
        version = ["qemu-system-x86_64", "--version"]
        said = [subprocess.run(c, capture_output=True, text=True, check=True).stdout for c in (accelerator, version)]
        return {"accelerator": said[0].strip(), "emulator": said[1].splitlines()[0]}


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as handle:
        return handle.connect_ex(str(path)) == 0


def _tail(log: Path) -> str:
    """The last lines of a log, indented, for messages."""
    try:
        lines = log.read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    return "".join(f"\n    | {line}" for line in lines[-_LAST_LINES:])
