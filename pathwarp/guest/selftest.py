# SPDX-License-Identifier: Apache-2.0
"""The init program of a guest that runs one of the kernel's own tests, from mounting to power-off.

It reads its orders from `selftest.json` in the run folder. There it leaves `output.txt`, what the test printed, each
line with the guest's clock before it in s since the test began, and `guest.json`, which says how the run went.
"""

import json
import os
import shutil
import subprocess
import sys
import time
import traceback
from pathlib import Path

import kernel

RUN = Path("/run/pathwarp/logs")
_PROGRAMS = Path("/opt/programs")
# The tests write where they are.
_PLACE = Path("/tmp/programs")
_OWN_COMMANDS = Path("/tmp/commands")
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_FORMATS = (1,)


def prepare(plan: dict) -> dict[str, str]:
    """Make a place for the test's files; the environment that it gets."""
    kernel.mount("tmpfs", "/run/netns", "tmpfs")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"/dev/{name}")
    shutil.copytree(_PROGRAMS, _PLACE, symlinks=True)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    environment = {"PATH": _PATH, "HOME": "/root", "LC_ALL": "C", "TMPDIR": "/tmp", "TERM": "dumb"}
    if plan["sysctls"]:
        environment["PATH"] = f"{set_in_namespaces(plan['sysctls'])}:{_PATH}"
    return environment


def set_in_namespaces(sysctls: dict[str, str]) -> Path:
    """Have each network namespace that a test makes begin with these sysctls; the folder with the `ip` that does it."""
    _OWN_COMMANDS.mkdir()
    for name, value in sysctls.items():
        kernel.write_sysctl(name, value)
    words = " ".join(f"'{name}={value}'" for name, value in sysctls.items())
    command = _OWN_COMMANDS / "ip"
    command.write_text(
        "#!/bin/sh\n"
        # Tests signal the process that they started as `ip netns exec`.
        'test "$1 $2" = "netns add" || exec /usr/sbin/ip "$@"\n'
        '/usr/sbin/ip "$@" && exec /usr/sbin/ip netns exec "$3" sysctl -q -w ' + words + "\n"
    )
    command.chmod(0o755)
    return _OWN_COMMANDS


def how_to_run(test: Path) -> list[str]:
    """The words that run a test in its folder, as the kernel's own runner does: some are not executable."""
    word = f"./{test.name}"
    if os.access(test, os.X_OK):
        return [word]
    with open(test, encoding="utf-8") as script:
        return [*script.readline().removeprefix("#!").split(), word]


def run(plan: dict, environment: dict[str, str]) -> dict:
    """Run the test to its end, or to the limit; its exit status, and what it took by the guest's clock in s."""
    folder = _PLACE / plan["folder"]
    command = ["timeout", "--kill-after=10", str(plan["limit_s"]), *how_to_run(folder / plan["file"])]
    begin_epoch_ns, begin_ns = time.time_ns(), time.monotonic_ns()
    with open(RUN / "output.txt", "wb", buffering=0) as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for line in process.stdout:
            now_ns = time.monotonic_ns() - begin_ns
            output.write(b"%d.%09d %s\n" % (now_ns // 10**9, now_ns % 10**9, line.rstrip(b"\n")))
        status = process.wait()
    return {"begin_ns": begin_epoch_ns, "exit": status, "took_s": round((time.monotonic_ns() - begin_ns) / 1e9, 6)}


def conduct() -> None:
    """Run the test and leave `guest.json` behind, whatever happens."""
    os.environ["PATH"] = _PATH
    report: dict = {"status": "failed", "release": os.uname().release}
    try:
        kernel.mount_everything()
        plan = json.loads((RUN / "selftest.json").read_text())
        if plan["format"] not in _FORMATS:
            raise ValueError(f"the orders are of format {plan['format']}")
        if report["release"] != plan["release"]:
            raise ValueError(f"the guest runs {report['release']}, not {plan['release']}")
        report.update(run(plan, prepare(plan)), status="done")
    except BaseException as error:  # noqa: BLE001, the guest has nobody else to tell
        report["reason"] = f"{type(error).__name__}: {error}"
        traceback.print_exc()
    finally:
        (RUN / "guest.json").write_text(json.dumps(report, indent=1, sort_keys=True) + "\n")
        sys.stdout.flush()


try:
    conduct()
finally:
    kernel.power_off()
