# SPDX-License-Identifier: Apache-2.0
"""The guest kernel's own affairs: mounts, sysctls, timer slack, power-off."""

import ctypes
import os
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_TIMERSLACK = 29
_RB_POWER_OFF = 0x4321FEDC
_MS_REMOUNT, _MS_NOATIME = 32, 1024

_MOUNTS = (
    ("proc", "/proc", "proc"),
    ("sysfs", "/sys", "sysfs"),
    ("tmpfs", "/dev/shm", "tmpfs"),
    ("devpts", "/dev/pts", "devpts"),
    ("tmpfs", "/tmp", "tmpfs"),
)
_DEVICES = (("null", 1, 3), ("zero", 1, 5), ("random", 1, 8), ("urandom", 1, 9), ("tty", 5, 0), ("ptmx", 5, 2))


def mount(source: str, target: str, kind: str, options: str = "", flags: int = 0) -> None:
    """Mount a file system; OSError when the kernel refuses (mount(2))."""
    arguments = (source.encode(), target.encode(), kind.encode(), flags, options.encode())
    if _LIBC.mount(*arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"mount {kind} on {target}: {os.strerror(code)}")


def mount_everything() -> None:
    """Have the run folder writable, and mount what Mininet, D-ITG and tcpdump need on top of the read-only lab root.

    No access times: whether the kernel notes one (relatime) hangs on when the host last read the file, and what it
    notes it writes back later, which wakes it.
    """
    mount("", "/", "", flags=_MS_REMOUNT | _MS_NOATIME)
    mount("tmpfs", "/dev", "tmpfs")
    for name, major, minor in _DEVICES:
        os.mknod(f"/dev/{name}", 0o20666, os.makedev(major, minor))
    for folder in ("/dev/shm", "/dev/pts"):
        os.mkdir(folder)
    for source, target, kind in _MOUNTS:
        mount(source, target, kind)
    os.symlink("/proc/self/fd", "/dev/fd")


def sharpen_timers() -> None:
    """Let this process and its children sleep to the nanosecond, not to 50 µs (prctl(2), PR_SET_TIMERSLACK)."""
    _LIBC.prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)


def write_sysctl(name: str, value: str) -> None:
    """Set a sysctl of the caller's namespace; OSError when there is none of that name."""
    try:
        Path("/proc/sys", *name.split(".")).write_text(f"{value}\n")
    except OSError as error:
        raise OSError(error.errno, f"{name} can't be {value}: {error.strerror}") from None


def read_sysctl(name: str) -> str:
    """Read a sysctl of the caller's namespace, without the line end."""
    return " ".join(Path("/proc/sys", *name.split(".")).read_text().split())


def power_off() -> None:
    """End the guest at once (reboot(2))."""
    os.sync()
    _LIBC.reboot(_RB_POWER_OFF)
