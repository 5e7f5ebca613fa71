# SPDX-License-Identifier: Apache-2.0
"""A kernel's source tree: unpacking, configuring, compiling, all of it the same on every machine."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from pathwarp.base import program
from pathwarp.base.complaints import Complaints, Exit
from pathwarp.prepare.kconfig import check_config
from pathwarp.prepare.recipe import KernelBackend

LAST_LINES = 15
# Tools that do nothing here but leave their versions in the configuration, which is part of the kernel.
WITHOUT = ("RUSTC=none", "PAHOLE=none")


class Tree:
    """A tree in `folder`; what its commands print goes to `log`. `root` is the project's folder."""

    def __init__(self, root: Path, folder: Path, backend: KernelBackend, built_at: str, log: TextIO) -> None:
        self.root = root
        self.folder = folder
        self.backend = backend
        self.built_at = built_at
        self.log = log

    @property
    def binary(self) -> Path:
        return self.folder / self.backend.binary

    @property
    def config(self) -> Path:
        return self.folder / ".config"

    @property
    def fragments(self) -> list[Path]:
        return fragments(self.root, self.backend)

    def unpack(self, archive: Path) -> None:
        """Fill the tree, which must not exist yet, with what the backend needs of the sources."""
        self.folder.mkdir()
        command = ["tar", "--extract", "--use-compress-program=xz --threads=0", f"--file={archive}"]
        command += [f"--directory={self.folder}", "--strip-components=1"]
        command += [f"--exclude-from={path}" for path in unneeded(self.root, self.backend)]
        self._run(command)

    def copy(self, other: "Tree") -> None:
        """Fill the tree, which must not exist yet, with a copy of another; make trusts the times of change."""
        self._run(["cp", "--archive", "--reflink=auto", str(other.folder), str(self.folder)])

    def configure(self) -> None:
        """Make the configuration: the smallest there is, with the backend's fragments on top and nothing lost."""
        self.make("tinyconfig")
        fragments = [str(path) for path in self.fragments]
        self._run(["scripts/kconfig/merge_config.sh", "-m", ".config", *fragments])
        self.make("olddefconfig")
        check_config(self.config, self.fragments, self.root)

    def compile(self, local_version: str) -> None:
        """Compile and link; `local_version` is what the kernel's release ends with."""
        jobs = len(os.sched_getaffinity(0))
        self.make(f"--jobs={jobs}", local_version=local_version)

    def release(self) -> str:
        """What `uname -r` says on the kernel; only once it is compiled."""
        return (self.folder / "include/config/kernel.release").read_text().strip()

    def version(self) -> str:
        """The version of the source, such as 6.12.117."""
        return self._capture(["make", "--silent", "--no-print-directory", "kernelversion"])

    def make(self, *arguments: str, local_version: str = "") -> None:
        self._run(["make", f"ARCH={self.backend.arch}", *WITHOUT, *arguments], local_version)

    def _environment(self, local_version: str = "") -> dict[str, str]:
        # Nothing else of the caller's: flags, make's own variables or a language would change what comes out.
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "LC_ALL": "C",
            "KBUILD_BUILD_TIMESTAMP": self.built_at,
            "KBUILD_BUILD_USER": "pathwarp",
            "KBUILD_BUILD_HOST": "pathwarp",
            "KBUILD_BUILD_VERSION": "1",
            "LOCALVERSION": local_version,
        }

    def _capture(self, command: Sequence[str]) -> str:
        done = program.run(command, folder=self.folder, environment=self._environment())
        done.check_returncode()
        return done.stdout.decode().strip()

    def _run(self, command: Sequence[str], local_version: str = "") -> None:
        """Run a command in the tree, or its parent before there is one; Complaints (a build failed) when it fails."""
        folder = self.folder if self.folder.is_dir() else self.folder.parent
        self.log.write(f"+ {' '.join(command)}\n")
        self.log.flush()
        start = os.fstat(self.log.fileno()).st_size
        status = program.run(
            command,
            folder=folder,
            environment=self._environment(local_version),
            output=self.log,
            errors=subprocess.STDOUT,
        ).returncode
        if status:
            log = Path(self.log.name)
            lines = log.read_bytes()[start:].decode(errors="replace").splitlines()[-LAST_LINES:]
            what = "\n".join([f"failed with exit status {status}; its last lines:", *(f"    {line}" for line in lines)])
            hint = f"all of it is in {log.relative_to(self.root).as_posix()}"
            raise Complaints.one(" ".join(command), what, hint=hint, code=Exit.FAILED)


def fragments(root: Path, backend: KernelBackend) -> list[Path]:
    return [root / "kernels" / "config" / f"{name}.config" for name in backend.config]


def unneeded(root: Path, backend: KernelBackend) -> list[Path]:
    return [root / "kernels" / "unneeded" / f"{name}.txt" for name in backend.leave_out]
