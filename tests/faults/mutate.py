# SPDX-License-Identifier: Apache-2.0
"""Mutations of texts and files, drawn from a seeded generator."""

import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

VALUES = (
    *(
        "",
        "~",
        "null",
        "true",
        "no",
        "-1",
        "0",
        "1",
        "-0.0",
        "1e999",
        "9" * 18,
        "9" * 400,
        "0x1F",
        "1_000",
        "NaN",
        ".inf",
    ),
    *(
        "[]",
        "{}",
        "[[]]",
        "[1, 2, 3]",
        "{a: 1}",
        "{min: 1 ms, max: 0 ms}",
        "'",
        '"',
        "''",
        "|",
        ">",
        "- x",
        "? x",
        "&a x",
    ),
    *(
        "*a",
        "!!python/object/apply:os.system ['true']",
        "!!binary aGk=",
        "!x y",
        "2026-01-01",
        "12:30:45",
        "@",
        "`",
        "%",
    ),
    *(
        "1 s",
        "-5 ms",
        "1 parsec",
        "99999999999 h",
        "0 s",
        "1 h",
        "1 packet",
        "1000000 packets",
        "0.0000000000001 ns",
        "100 %",
    ),
    *(
        "101 %",
        "1 Mbit/s",
        "100 Gbit/s",
        "0 bit/s",
        "400 B",
        "1 B",
        "999999999999 GB",
        "all",
        "wlan",
        "4g",
        "docs",
        "tlp-mp",
    ),
    *(
        "../../../etc/passwd",
        "/dev/zero",
        "a" * 1000,
        "name with blanks",
        "\u202etxt",
        "\U0001f4a3",
        "\x00",
        "\x1b[31m",
    ),
    *(
        "{" * 50,
        "[" * 2000,
        "a: " * 200,
        "<<: {a: 1}",
        "server",
        "client",
        "access",
        "lo",
        "default",
        "blackhole",
        "mean",
    ),
)
BOMB = "\n".join(["a0: &a0 [x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}]" for n in range(1, 30))]) + "\n"
LINES = (
    *(
        "",
        "\t",
        "  - x",
        "name: twice",
        "extends: tlp-mp",
        "<<: *a",
        "---",
        "...",
        "%YAML 1.1",
        "? [a, b]",
        "\ufeffname: x",
    ),
    *(
        "0,0",
        "1.5,400,7",
        "-1,400",
        "1e5,400",
        "999999999999.999999999,9999999999",
        "٣,٤",
        "x" * 5000,
        "\x85",
        "\u2028",
        "#",
    ),
    *("x.patch", "../series", "0001-x.patch # uml # vm", "/etc/passwd", "runs: 10000", "duration: 1 h", "events: []"),
)

Mutation = Callable[[bytes, random.Random], bytes]


def _at(content: bytes, chance: random.Random) -> int:
    return chance.randrange(len(content) + 1)


def flip_bytes(content: bytes, chance: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 10))):
        if changed:
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def delete(content: bytes, chance: random.Random) -> bytes:
    begin = _at(content, chance)
    return content[:begin] + content[begin + chance.choice((1, 1, 5, 50, 500)) :]


def insert_bytes(content: bytes, chance: random.Random) -> bytes:
    begin = _at(content, chance)
    piece = chance.choice(
        (b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\r", b"\t", b"\x1b", b":", b" ", b"\n", b"- ", b"{", b"[")
    )
    return content[:begin] + piece * chance.choice((1, 1, 3, 100)) + content[begin:]


def truncate(content: bytes, chance: random.Random) -> bytes:
    return content[: _at(content, chance)]


def change_lines(content: bytes, chance: random.Random) -> bytes:
    lines = content.splitlines(keepends=True) or [b""]
    one, two = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(5):
        case 0:
            lines.insert(one, lines[two])
        case 1:
            lines[one], lines[two] = lines[two], lines[one]
        case 2:
            lines.insert(one, f"{chance.choice(LINES)}\n".encode())
        case 3:
            lines[one] = b" " * chance.choice((1, 2, 7)) + lines[one]
        case 4:
            lines = lines * chance.choice((2, 3, 200))
    return b"".join(lines)


def change_value(content: bytes, chance: random.Random) -> bytes:
    """Another value behind one of the colons or commas, or for one of the numbers."""
    places = list(re.finditer(rb"(?<=: )[^\n,}]+|(?<=,)[^\n,}\]]+|\d+(\.\d+)?", content))
    if not places:
        return chance.choice(VALUES).encode()
    place = chance.choice(places)
    other = chance.choice([chance.choice(VALUES).encode(), chance.choice(places)[0]])
    return content[: place.start()] + other + content[place.end() :]


def wrap(content: bytes, chance: random.Random) -> bytes:
    """The whole in another form: nested, bombed, in another encoding, doubled."""
    forms = (
        lambda: b"".join(b" " * depth + b"a:\n" for depth in range(chance.choice((5, 30, 300, 3000)))),
        lambda: b"[" * chance.choice((10, 1000, 50_000)),
        lambda: BOMB.encode() + content,
        lambda: content + BOMB.encode(),
        lambda: content.decode("utf-8", "replace").encode("utf-16"),
        lambda: b"\xef\xbb\xbf" + content,
        lambda: content.replace(b"\n", b"\r\n"),
        lambda: content.replace(b"\n", b""),
        lambda: b"",
        lambda: b"\0" * 4096,
        lambda: b"- " + content,
        lambda: content * 50,
    )
    return chance.choice(forms)()


TEXTS: tuple[Mutation, ...] = (
    *(change_value,) * 5,
    *(change_lines,) * 2,
    *(flip_bytes, delete, insert_bytes, truncate, wrap),
)


def mutate_text(content: bytes, chance: random.Random) -> bytes:
    """One mutation, sometimes several on top of each other."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        content = chance.choice(TEXTS)(content, chance)
    return content


def replace_file(file: Path, chance: random.Random) -> None:
    """Put something in the file's place that is none, or none that can be read."""
    file.unlink()
    match chance.randrange(8):
        case 0:
            file.symlink_to(file)
        case 1:
            file.symlink_to("/nonexistent")
        case 2:
            file.symlink_to("/dev/zero")
        case 3:
            file.symlink_to(file.parent)
        case 4:
            os.mkfifo(file)
        case 5:
            file.mkdir()
        case 6:
            file.symlink_to("/etc/hostname")
        case 7:
            pass


def restore(file: Path, content: bytes, times: tuple[int, int]) -> None:
    """Make the file what it was, its time included."""
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file)
    else:
        file.unlink(missing_ok=True)
    file.write_bytes(content)
    os.utime(file, ns=times)
