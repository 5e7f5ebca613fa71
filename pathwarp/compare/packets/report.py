# SPDX-License-Identifier: Apache-2.0
"""Where two trials part, as text."""

from collections.abc import Iterator, Sequence
from typing import Any

from pathwarp.compare.packets.divergence import WORDS, Divergence
from pathwarp.compare.packets.side import Side
from pathwarp.compare.packets.words import Words

CONTEXT = 5  # packets shown before the first difference and after it


def report(sides: Sequence[Side], divergence: Divergence | None) -> Iterator[str]:
    """The lines: which trials, what they have in common, the first difference, and how each of them goes on."""
    width = max(len(side.name) for side in sides)
    for side in sides:
        yield f"{side.name:<{width}}  {side.folder}"
    yield f"They were given the same, but for: {', '.join(_inputs(sides)) or 'nothing that the plans say'}"
    if divergence is None:
        yield f"They are the same packet for packet, {len(sides[0].sightings)} in all captures."
        return
    words = [Words(side, divergence.at_ns) for side in sides]
    yield from _common(sides, words, divergence)
    yield ""
    yield f"First difference, {_seconds(divergence.at_ns)} from the flow's start:"
    yield from _difference(sides, words, divergence)
    for number, side in enumerate(sides):
        yield ""
        yield f"{side.name} goes on:"
        yield from (words[number].line(row) for row in divergence.after[number][:CONTEXT])
        if not len(divergence.after[number]):
            yield "  with nothing: its captures end here"
    yield ""


def _common(sides: Sequence[Side], words: Sequence[Words], divergence: Divergence) -> Iterator[str]:
    whose = divergence.alone or 0
    rows = divergence.before[whose]
    if not len(rows):
        yield "They share nothing: the first packet differs."
        return
    last_ns = int(sides[whose].sightings.time_ns[rows[-1]])
    yield f"They share the first {len(rows)} packets of all captures, up to {_seconds(last_ns)} from the flow's start"
    if divergence.shifted_ns is not None:
        since = _seconds(divergence.shifted_ns)
        yield f"(up to {divergence.shift_ns} ns apart, from {since} on: ticks of the guests' clock):"
    yield ""
    yield from (words[whose].line(row) for row in rows[-CONTEXT:])


def _difference(sides: Sequence[Side], words: Sequence[Words], divergence: Divergence) -> Iterator[str]:
    if divergence.alone is None:
        named = ", ".join(WORDS[name] for name in divergence.columns)
        shared = [row for row in divergence.rows if row is not None]
        yield f"  both: {words[0].where(shared[0])}; it differs in: {named}"
        for side, told, place in zip(sides, words, shared, strict=True):
            yield f"  {side.name}: {told.what(place)}"
        return
    one, other = sides[divergence.alone], sides[1 - divergence.alone]
    row, later = divergence.rows[divergence.alone], divergence.rows[1 - divergence.alone]
    assert row is not None, "the packet that one trial has alone"
    what = words[divergence.alone].what(row)
    yield f"  {one.name}: {words[divergence.alone].where(row)}: {what}"
    if later is None:
        yield f"  {other.name}: no such packet at that instant, nor later"
        return
    later_ns = int(other.sightings.time_ns[later])
    same = Words(other, later_ns).what(later)
    wait_ms = (later_ns - int(one.sightings.time_ns[row])) / 1e6
    as_what = "" if same == what else f", as: {same}"
    yield f"  {other.name}: no such packet at that instant; it has it {wait_ms:.6f} ms later{as_what}"


def _seconds(time_ns: int) -> str:
    return f"{time_ns / 1e9:.6f} s"


def _inputs(sides: Sequence[Side]) -> Iterator[str]:
    """What the two plans have otherwise, with the values where these are short."""
    one, two = (side.analysis.inputs.plan for side in sides)
    for name in sorted({*one, *two}):
        values = one.get(name), two.get(name)
        if values[0] != values[1]:
            told = f" ({values[0]}, {values[1]})" if all(map(_is_short, values)) else ""
            yield f"{name}{told}"


def _is_short(value: Any) -> bool:
    return isinstance(value, str | int | float)
