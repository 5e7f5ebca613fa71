# SPDX-License-Identifier: Apache-2.0
"""What can have happened to a file since it was written."""

import shutil
from collections.abc import Callable
from pathlib import Path


def _directory(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _fill(content: bytes) -> Callable[[Path], None]:
    return lambda file: file.write_bytes(content)


def _flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0x41
    file.write_bytes(content)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "empty": _fill(b""),
    "half": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "a byte short": lambda file: file.write_bytes(file.read_bytes()[:-2]),
    "a bit flipped": _flip,
    "appended to": lambda file: file.write_bytes(file.read_bytes() + b"\n{}"),
    "a folder": _directory,
    "zeros": lambda file: file.write_bytes(bytes(file.stat().st_size)),
    "no UTF-8": _fill(b"\xff\xfe{}"),
    "a list": _fill(b"[]"),
    "an empty object": _fill(b"{}"),
    "nested deep": _fill(b"[" * 100_000),
    "no number": _fill(b'{"trial_id": NaN, "files": 3, "seed": "x", "loss_events": 1e999}'),
}


def restore(file: Path, good: Path) -> None:
    if file.is_dir():
        shutil.rmtree(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(good, file)
