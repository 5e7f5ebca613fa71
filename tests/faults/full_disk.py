# SPDX-License-Identifier: Apache-2.0
"""full_disk.py ROOT SIZE COMMAND...: run a command again and again with the results on a disk of that size.

Runs inside a mount namespace of its own. The first time the disk is small, then it grows. Prints, as JSON, what each
run came to, what was wrong with the sealed folders then, and how many bytes were free.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from pathwarp.measure.code import measuring_code
from pathwarp.results.integrity import check_results


def mount(*options: str) -> None:
    subprocess.run(["mount", *options], check=True)


def state(results: Path) -> dict:
    """What is sealed, what is wrong with it, and what has a result's name without being sealed."""
    folders = sorted(results.glob("[!.]*/*/*/*"))
    sealed = [folder for folder in folders if (folder / "manifest.json").is_file()]
    return {
        "sealed": {
            str(folder.relative_to(results)): json.loads((folder / "manifest.json").read_text())["files_sha256"]
            for folder in sealed
        },
        "half": [str(folder) for folder in folders if folder not in sealed],
        "problems": [
            problem
            for checked in check_results(results, measuring_code())
            for problem in (*checked.problems, *checked.unusable)
        ],
        "unsealed": [path.name for path in (results / ".in-progress").glob("*")],
        "free": os.statvfs(results).f_bavail * os.statvfs(results).f_frsize,
    }


def main(root: Path, size: str, command: list[str]) -> None:
    results = root / "results"
    results.mkdir(exist_ok=True)
    mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(results))
    told = []
    for grown in (size, "256M"):
        mount("-o", f"remount,size={grown}", str(results))
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        told.append({"status": done.returncode, "output": done.stdout, "errors": done.stderr, **state(results)})
    json.dump(told, sys.stdout)


main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
