# SPDX-License-Identifier: Apache-2.0
"""A project with a kernel of a few lines, so that all steps of a kernel's build can be run in a blink."""

import subprocess
from pathlib import Path

from golden_project import copy_project

BASE = """\
package: linux-source-0.1
tested: 0.1.2
built-at: 2026-01-01 00:00:00 UTC
backends:
  uml: {arch: um, binary: linux, config: [common, uml], leave-out: [huge]}
  vm: {arch: x86, binary: linux, config: [common]}
"""

# Like the kernel's: targets of the same names, in-tree, the options that Kconfig knows and no others.
MAKEFILE = """\
kernelversion:
\t@echo 0.1.7
tinyconfig:
\techo '# CONFIG_A is not set' >.config
olddefconfig:
\tsed -n -e '/CONFIG_[ABC][= ]/p' -i .config
\techo 'CONFIG_CC_VERSION_TEXT="cc 1"' >>.config
.DEFAULT_GOAL := linux
linux: main.c .config
\tmkdir -p include/config
\techo "0.1.7$(LOCALVERSION)" >include/config/kernel.release
\t! grep BROKEN main.c
\t(cat main.c .config; echo "$(ARCH) $(KBUILD_BUILD_TIMESTAMP) $(LOCALVERSION)") >linux
\techo 0 main >System.map
"""

MERGE = """\
#!/bin/sh
shift
config=$1
shift
cat "$@" >>"$config"
"""

MAIN = "".join(f"line {number}\n" for number in range(1, 31))


def make_project(folder: Path) -> Path:
    """A project with the variants `plain` and `better` (which extends it), its source downloaded, nothing built."""
    root = copy_project(folder)
    kernels = root / "kernels"
    (kernels / "config").mkdir()
    (kernels / "patches").mkdir()
    (kernels / "base.yaml").write_text(BASE)
    (kernels / "config" / "common.config").write_text("CONFIG_A=y\nCONFIG_B=y\n")
    (kernels / "config" / "uml.config").write_text("# CONFIG_B is not set\n")
    (kernels / "unneeded").mkdir()
    (kernels / "unneeded" / "huge.txt").write_text("linux-source-0.1/unneeded/*.c\n")
    write_patch(kernels / "patches" / "0001-all.patch", 3)
    write_patch(kernels / "patches" / "0002-only.patch", 9)
    (kernels / "patches" / "series").write_text("# in order\n0001-all.patch\n\n0002-only.patch # uml\n")
    write_patch(kernels / "variants" / "better" / "0001-better.patch", 27)
    (kernels / "variants" / "better" / "series").write_text("0001-better.patch\n")
    source = root / "source" / "linux-source-0.1"
    (source / "scripts" / "kconfig").mkdir(parents=True)
    (source / "unneeded").mkdir()
    (source / "unneeded" / "huge.c").write_text("huge\n")
    (source / "main.c").write_text(MAIN)
    (source / "Makefile").write_text(MAKEFILE)
    (source / "Kconfig").write_text("config A\nconfig B\nconfig C\nconfig NEEDS_MORE\n")
    merge = source / "scripts" / "kconfig" / "merge_config.sh"
    merge.write_text(MERGE)
    merge.chmod(0o755)
    download = root / "build" / "downloads" / "linux-source-0.1"
    download.mkdir(parents=True)
    archive = download / "linux-source-0.1.tar.xz"
    subprocess.run(["tar", "-cJf", archive, "-C", source.parent, source.name], check=True)
    (download / "version").write_text("0.1.7-1\n")
    return root


def write_patch(path: Path, line: int, context: str = "line", file: str = "main.c") -> None:
    """A patch that replaces a line of `file`, which must have `context` and its number in the lines around."""
    before = "".join(f" {context} {number}\n" for number in range(line - 3, line) if number > 0)
    after = "".join(f" {context} {number}\n" for number in range(line + 1, line + 4))
    first = max(1, line - 3)
    length = line + 3 - first + 1
    path.write_text(
        f"Subject: change line {line}\n\n--- a/{file}\n+++ b/{file}\n@@ -{first},{length} +{first},{length} @@\n"
        f"{before}-line {line}\n+line {line} of {path.stem}\n{after}"
    )
