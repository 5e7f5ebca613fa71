# SPDX-License-Identifier: Apache-2.0
"""A virtual machine from power-on to its end, and what is done in it: Vagrant starts it, ssh does the rest."""

import contextlib
import io
import json
import os
import shutil
import socket
import subprocess
import tarfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import Field

from pathwarp.base import interrupt, program
from pathwarp.model.backends.vm import BACKEND
from pathwarp.model.schema.common import DurationNs, Name
from pathwarp.plan.identity import GUEST, guest_files
from pathwarp.prepare.box import HOST, box_folder
from pathwarp.results.runfolder import RAW_FOLDERS
from pathwarp.run.guests.guest import CONSOLE, tail
from pathwarp.run.guests.processes import dying_with_caller, end_family
from pathwarp.run.guests.settings import GuestSettings, Limits

_START_S = 30
# What short commands may take, such as fetching a trial's files.
_COMMAND_S = 300
# How long libvirtd may take to notice that a machine is gone.
_NOTICE_S = 5
_RUN = "/run/pathwarp"
_CODE = "/opt/pathwarp"
# What does a trial in a machine, in namespaces of its own.
RUN_TRIAL = (
    *("sudo", "unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "--mount-proc"),
    *("python3", "-B", "-E", "-s", f"{_CODE}/machine.py"),
)
_LOST = 255  # ssh's own exit status
_LONGEST_SOCKET = 107  # unix(7)

# A machine is asked so often, each second at the most, before its silence counts.
SILENCES = 4


class VmSettings(GuestSettings):
    """`memory` of a machine, in MiB; `boot_ns` is what it gets to answer after power-on, `silence_ns` later on.

    `variant` is that of the machine which is prepared or started by hand when none is named.
    """

    FILE = BACKEND.settings

    variant: Name
    memory: Annotated[str, Field(pattern=r"^[1-9][0-9]{2,5}M$")]
    boot_ns: Annotated[DurationNs, Field(alias="boot", gt=0)]
    silence_ns: Annotated[DurationNs, Field(alias="silence", ge=SILENCES * 1_000_000_000)]
    watchdog: Limits


class MachineFailed(Exception):
    """A machine that does not start, does not answer or does not do what it is told."""


def accelerator(root: Path) -> str:
    """What machines run on here: `kvm`, or `qemu` for software emulation."""
    script = str(root / "vms" / "libvirt" / "accelerator.sh")
    done = program.run([script])
    done.check_returncode()
    return done.stdout.decode().strip()


class Machine:
    """A running machine with a variant's kernel and the guest's code in it.

    It is in a libvirtd of its own (vms/libvirt/start.sh), which dies with this process, and the machine with it. All
    its files are in `build/vm/run`; only one process of a checkout has that at a time.
    """

    def __init__(self, root: Path, variant: str, settings: VmSettings, run: Path) -> None:
        """Start it and wait until it answers; MachineFailed when it does not.

        What it said meanwhile is then in the run folder's console.txt.
        """
        self.root = root
        self.variant = variant
        self.settings = settings
        # Without links: the name of libvirtd's socket may not be long.
        self.state = (root / "build").resolve() / "vm" / "run"
        self._libvirtd: subprocess.Popen | None = None
        self._lock = _take(self.state.with_suffix(".lock"))
        try:
            shutil.rmtree(self.state, ignore_errors=True)
            self._start_libvirtd()
            self._vagrant_up(run)
            self._send(root / GUEST, guest_files(root), _CODE)
        except BaseException:
            self._keep_console(run)
            self.close()
            raise

    def run(self, run: Path, limit_s: float) -> None:
        """Run the trial whose orders are in a run folder, and bring its raw files back; MachineFailed if it can't be.

        `limit_s` is by the host's clock. The run folder's console.txt gets what program and kernel said.
        """
        before = self._console.stat().st_size
        try:
            self._send(run, map(Path, RAW_FOLDERS), _RUN, f"find {_RUN} -mindepth 1 -delete; ")
            with open(run / CONSOLE, "wb") as stream:
                self._ssh(" ".join(RUN_TRIAL), limit_s, output=stream, errors=stream)
            self._fetch(run)
        finally:
            self._keep_console(run, before)
        (run / "logs" / "machine.json").write_text(json.dumps(self._describe(), sort_keys=True) + "\n")

    def close(self) -> None:
        """End machine and libvirtd, and remove their files."""
        if self._libvirtd is not None:
            end_family(self._libvirtd.pid)
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
        if len(os.fsencode(self._socket)) > _LONGEST_SOCKET:
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
                raise MachineFailed(f"libvirtd does not start:{tail(self.state / 'log' / 'libvirtd.log')}")
            interrupt.wait((), 0.05)

    def _vagrant_up(self, run: Path) -> None:
        environment = {
            **os.environ,
            "VARIANT": self.variant,
            "PATHWARP_VM_STATE": str(self.state),
            "VAGRANT_CWD": str(self.root),
            "VAGRANT_DOTFILE_PATH": str(self.state / "vagrant"),
            "VAGRANT_HOME": str(self.state / "home"),
            "VAGRANT_CHECKPOINT_DISABLE": "1",
        }
        command = ["vagrant", "up", "--provider=libvirt", "--no-color"]
        with open(run / CONSOLE, "wb") as log:
            limit_s = self.settings.boot_ns / 1e9 + _COMMAND_S
            if _call(command, limit_s, environment=environment, output=log, errors=log):
                raise MachineFailed("vagrant can't start the machine")

    def _ssh(self, command: str, limit_s: float = _COMMAND_S, **streams: Any) -> None:
        """Run a command of the machine's shell as its user; MachineFailed when it fails."""
        box = box_folder(self.root)
        silence_s = self.settings.silence_ns // 1_000_000_000
        options = {
            "BatchMode": "yes",
            "ConnectTimeout": silence_s,
            "HostKeyAlias": HOST,
            "IdentitiesOnly": "yes",
            "IdentityFile": _quoted(box / "key"),
            "LogLevel": "ERROR",
            "ServerAliveCountMax": SILENCES,
            "ServerAliveInterval": silence_s // SILENCES,
            "StrictHostKeyChecking": "yes",
            "UserKnownHostsFile": _quoted(box / "known_hosts"),
        }
        words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        port = (self.state / f"{self.variant}.port").read_text()
        with open(self.state / "complaints", "w+") as complaints:
            streams = {"errors": complaints, **streams}
            status = _call(["ssh", "-F", "none", "-p", port, *words, "vagrant@127.0.0.1", command], limit_s, **streams)
        if status:
            raise MachineFailed(f"{self._loss(status)}{tail(self.state / 'complaints')}")

    def _loss(self, status: int) -> str:
        """Why a command in the machine failed."""
        uri = f"qemu+unix:///system?socket={quote(str(self._socket))}"
        command = ["virsh", "--connect", uri, "domstate", "--reason", f"pathwarp-{self.variant}"]
        deadline = time.monotonic() + _NOTICE_S
        while True:
            with open(self.state / "domstate", "w+") as said:
                # In English, whatever the user's language.
                environment = {**os.environ, "LC_ALL": "C"}
                gone = _call(command, _START_S, environment=environment, output=said, errors=said) != 0
                said.seek(0)
                state = said.read().strip()
            if gone:
                return f"libvirtd is gone: {state}"
            if not state.startswith("running"):
                return f"the virtual machine is gone: {state}"
            if status != _LOST:
                return f"a command in the machine ended with {status}"
            if time.monotonic() > deadline:
                return "the virtual machine does not answer"
            interrupt.wait((), 0.2)

    def _send(self, folder: Path, names: Iterable[Path], place: str, first: str = "") -> None:
        """Put files, and folders with all that is in them, which are relative to `folder` into one of the machine's."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for name in names:
                archive.add(folder / name, name.as_posix())
        # The machine's clock is not the host's: its own times for the files.
        tar = f"sudo sh -c '{first}tar --extract --touch --no-same-owner --directory={place}'"
        self._ssh(tar, given=packed.getvalue(), output=subprocess.DEVNULL)

    def _fetch(self, run: Path) -> None:
        """Bring a trial's raw files into its run folder."""
        with open(self.state / "fetched.tar", "w+b") as packed:
            folders = " ".join(RAW_FOLDERS)
            self._ssh(f"sudo tar --create --directory={_RUN} {folders}", output=packed)
            packed.seek(0)
            try:
                with tarfile.open(fileobj=packed, mode="r") as archive:
                    _unpack(archive, run)
            except tarfile.TarError as error:
                raise MachineFailed(f"the machine's files can't be unpacked: {error}") from None

    def _keep_console(self, run: Path, since: int = 0) -> None:
        """Add to the run folder's console.txt what the machine's kernel has said."""
        with contextlib.suppress(FileNotFoundError), open(self._console, "rb") as kernel:
            kernel.seek(since)
            with open(run / CONSOLE, "ab") as stream:
                shutil.copyfileobj(kernel, stream)

    def _describe(self) -> dict[str, str]:
        """What the machine runs on, for the manifest."""
        version = program.run(["qemu-system-x86_64", "--version"])
        version.check_returncode()
        return {"accelerator": accelerator(self.root), "emulator": version.stdout.decode().splitlines()[0]}


def _take(path: Path) -> io.TextIOWrapper:
    """Hold a lock file; two runs' machines at once would disturb each other."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = path.open("w")
    try:
        program.lock(lock)
    except BaseException:
        lock.close()
        raise
    return lock


def _call(command: Sequence[str], limit_s: float, **streams: Any) -> int:
    """Run a program of the host that ends with this process; its exit status.

    MachineFailed when there is none, or it takes too long.
    """
    try:
        return program.run(command, limit_s=limit_s, first=dying_with_caller(), **streams).returncode
    except subprocess.TimeoutExpired:
        raise MachineFailed(f"the machine was not done after {limit_s:.0f} s of the host's clock") from None
    except FileNotFoundError as error:
        raise MachineFailed(f"there is no program {error.filename}") from None


def _unpack(archive: tarfile.TarFile, run: Path) -> None:
    """Write an archive's folders and plain files below the run folder's; MachineFailed for anything else in it."""
    for member in archive:
        path = PurePosixPath(member.name)
        if not path.parts or path.parts[0] not in RAW_FOLDERS or ".." in path.parts:
            raise MachineFailed(f"the machine sent a file that is none of a trial's: {member.name[:80]!r}")
        if member.isdir():
            (run / path).mkdir(parents=True, exist_ok=True)
        elif member.isreg():
            (run / path).parent.mkdir(parents=True, exist_ok=True)
            content = archive.extractfile(member)
            assert content, "a plain file has content"
            with content, open(run / path, "wb") as stream:
                shutil.copyfileobj(content, stream)
        else:
            raise MachineFailed(f"the machine sent something else than a file: {member.name[:80]!r}")


def _quoted(path: Path) -> str:
    """A path as ssh's options take it, where blanks part words and % begins a token."""
    return '"' + str(path).replace("%", "%%") + '"'


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as handle:
        return handle.connect_ex(str(path)) == 0
