# SPDX-License-Identifier: Apache-2.0
"""A page of the documentation: what it links to, its tables, its blocks of code, and what is wrong with them."""

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

LONGEST_LINE = 120
_PARSER = MarkdownIt("commonmark").enable("table")


@dataclass(frozen=True)
class Block:
    """A fenced block of code: its language, its text, and the number of the line that opens it."""

    language: str
    text: str
    line: int


@dataclass(frozen=True)
class Page:
    """A Markdown file."""

    path: Path

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def _tokens(self) -> list[Token]:
        return _PARSER.parse(self.text)

    def blocks(self) -> list[Block]:
        """The fenced blocks, in their order."""
        return [
            Block(token.info.strip(), token.content, token.map[0] + 1)
            for token in self._tokens
            if token.type == "fence" and token.map
        ]

    def targets(self) -> Iterator[tuple[int, str]]:
        """Line and target of each link and image."""
        for token in self._tokens:
            line = token.map[0] + 1 if token.map else 0
            for child in token.children or []:
                for key in ("href", "src"):
                    if (target := child.attrGet(key)) is not None:
                        yield line, str(target)

    def anchors(self) -> set[str]:
        """What links can name behind #, as GitHub makes it of the headings."""
        found: Counter[str] = Counter()
        names = set()
        for heading, inline in zip(self._tokens, self._tokens[1:], strict=False):
            if heading.type == "heading_open":
                words = "".join(child.content for child in inline.children or [])
                name = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
                names.add(f"{name}-{found[name]}" if found[name] else name)
                found[name] += 1
        return names

    def complaints(self) -> list[str]:
        """Everything that is wrong with the page, each with its line."""
        return [*self._about_lines(), *self._about_tables(), *self._about_links()]

    def _about_lines(self) -> Iterator[str]:
        if not self.text.endswith("\n") or self.text.endswith("\n\n"):
            yield "the file does not end with one line end"
        for number, line in enumerate(self.text.split("\n"), 1):
            if len(line) > LONGEST_LINE:
                yield f"line {number} has {len(line)} columns"
            if line != line.rstrip() or "\t" in line:
                yield f"line {number} has blanks at its end, or a tab"

    def _about_tables(self) -> Iterator[str]:
        """A row outside of any table, or with another number of cells: Markdown drops cells and fills up in silence."""
        lines = self.text.split("\n")
        tables = [range(*token.map) for token in self._tokens if token.type == "table_open" and token.map]
        literal = {
            number
            for token in self._tokens
            if token.type in ("fence", "code_block") and token.map
            for number in range(*token.map)
        }
        for number, line in enumerate(lines):
            inside = any(number in table for table in tables)
            if line.lstrip().startswith("|") and not inside and number not in literal:
                yield f"line {number + 1} looks like a row, but is in no table"
        for table in tables:
            widths = {number: len(re.findall(r"(?<!\\)\|", lines[number])) for number in table}
            for number, width in widths.items():
                if width != widths[table[0]]:
                    yield f"line {number + 1} has {width - 1} cells, the table's head has {widths[table[0]] - 1}"

    def _about_links(self) -> Iterator[str]:
        for line, target in self.targets():
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = Path(os.path.normpath(self.path.parent / name)) if name else self.path
            if not file.exists():
                yield f"line {line} links to {target}: there is no such file"
            elif anchor and anchor not in Page(file).anchors():
                yield f"line {line} links to {target}: the page has no such heading"
