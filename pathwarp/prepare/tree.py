# SPDX-License-Identifier: Apache-2.0
"""A kernel's source tree: unpacking, configuring, compiling, all of it the same on every machine."""

import os
import subprocess
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TextIO

from pathwarp.base import program
from pathwarp.base.complaints import Complaints, Exit
from pathwarp.model.kerneltree import OPTION, KernelTree, files_of, hash_files, is_checkout
from pathwarp.prepare.adopt import products, take_times
from pathwarp.prepare.recipe import KernelBackend

LAST_LINES = 15
_TOOLS = ("CONFIG_CC_VERSION_TEXT", "CONFIG_AS_VERSION", "CONFIG_LD_VERSION")
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

    def unpack(self, archive: Path) -> None:
        """Fill the tree, which must not exist yet, with what the backend needs of the sources."""
        self.folder.mkdir()
        self._unpack(archive, [f"--exclude-from={path}" for path in unneeded(self.root, self.backend)])

    def unpack_more(self, archive: Path) -> None:
        """Add to the tree what the backend needs beyond what is in it already, which stays as it is."""
        patterns = [f"--files-from={path}" for path in needed(self.root, self.backend)]
        if patterns:
            self._unpack(archive, ["--skip-old-files", "--wildcards", *patterns])

    def _unpack(self, archive: Path, chosen: Sequence[str]) -> None:
        command = ["tar", "--extract", "--use-compress-program=xz --threads=0", f"--file={archive}"]
        self._run([*command, f"--directory={self.folder}", "--strip-components=1", *chosen])

    def take(self, source: KernelTree) -> None:
        """Fill the tree, which must not exist yet, with a user's own source, without what was built there.

        Complaints (a build failed) when that is not what it was any more.
        """
        self.folder.mkdir()
        names = files_of(source.folder)
        self._copy_files(source.folder, names)
        if hash_files(self.folder, names) != source.sha256:
            raise Complaints.one(OPTION, f"{source.folder} was changed meanwhile", hint="try again", code=Exit.FAILED)
        if not is_checkout(source.folder):
            self.make("mrproper")

    def adopt(self, sources: Collection[str], other: Path, others: Collection[str]) -> None:
        """Take over what was compiled in the tree `other`, in place of all that was compiled in this one; the `sources`
        are this tree's, the `others` that one's.
        """
        for name in products(sources, self.folder, sources):
            (self.folder / name).unlink()
        take_times(self.folder, sources, other, others)
        self._copy_files(other, products(sources, other, others))

    def _copy_files(self, folder: Path, names: Sequence[str]) -> None:
        copy = ["cp", "--archive", "--parents", f"--target-directory={self.folder}", "--"]
        given = "".join(f"{name}\0" for name in names)
        self._run(["xargs", "--null", "--no-run-if-empty", *copy], folder=folder, given=given)

    def copy(self, other: "Tree") -> None:
        """Fill the tree, which must not exist yet, with a copy of another; make trusts the times of change."""
        self._run(["cp", "--archive", "--reflink=auto", str(other.folder), str(self.folder)])

    def configure(self, fresh: bool = True) -> None:
        """Put the backend's fragments on top of the configuration there, or, `fresh`, of the smallest there is."""
        if fresh:
            self.make("tinyconfig")
        chosen = [str(path) for path in fragments(self.root, self.backend)]
        self._run(["scripts/kconfig/merge_config.sh", "-m", ".config", *chosen])
        self.make("olddefconfig")

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

    def tools(self) -> dict[str, str]:
        """What it is compiled with, as its configuration has it, and the C library; only once it is configured."""
        named = dict(line.split("=", 1) for line in self.config.read_text().splitlines() if line.startswith("CONFIG_"))
        return {**{name: named.get(name, "") for name in _TOOLS}, "libc": os.confstr("CS_GNU_LIBC_VERSION") or ""}

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

    def _run(
        self, command: Sequence[str], local_version: str = "", folder: Path | None = None, given: str = ""
    ) -> None:
        """Run a command in the tree, its parent before there is one, or `folder`; Complaints (a build failed) when it
        fails. `given` is its standard input.
        """
        folder = folder or (self.folder if self.folder.is_dir() else self.folder.parent)
        self.log.write(f"+ {' '.join(command)}\n")
        self.log.flush()
        start = os.fstat(self.log.fileno()).st_size
        status = program.run(
            command,
            folder=folder,
            environment=self._environment(local_version),
            given=given.encode(errors="surrogateescape"),
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


def needed(root: Path, backend: KernelBackend) -> list[Path]:
    return [root / "kernels" / "needed" / f"{name}.txt" for name in backend.unpack]
