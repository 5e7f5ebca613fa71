# SPDX-License-Identifier: Apache-2.0
"""Kinds of packet: a file each, found by itself, and one kind for every packet."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathwarp.measure import kinds
from pathwarp.measure.kinds import registry
from pathwarp.measure.kinds.registry import KINDS, find_kinds, kinds_of
from pathwarp.measure.transports.packets import Packets
from pathwarp.measure.transports.reinjections import classify

FOLDER = Path(kinds.__path__[0])


def analysis_of(rows: list[tuple[int, int, int, int]]) -> SimpleNamespace:
    """Packets of (subflow, subflow sequence number, offset, length), one each ms, all delivered."""
    columns = np.array(rows, np.int64).reshape(-1, 4).T
    time_ns = np.arange(len(rows), dtype=np.int64) * 1_000_000
    delivered = np.ones(len(rows), bool)
    packets = Packets(time_ns, columns[0], columns[0], *columns[1:], time_ns + 1, delivered)
    return SimpleNamespace(packets=packets, resent=classify(packets))


def keys(analysis: SimpleNamespace) -> list[str]:
    return [kind.key for kind in kinds_of(analysis, range(len(analysis.packets)), {})]


def test_every_file_is_a_kind_that_is_called_like_it() -> None:
    files = {path.stem for path in FOLDER.glob("[a-z]*.py")} - {"kind", "registry"}
    assert {kind.key for kind in KINDS} == files


def test_no_two_kinds_share_a_colour_a_place_or_words() -> None:
    for name in ("colour", "drawn", "legend", "noun", "labels"):
        values = [getattr(kind, name) for kind in KINDS]
        assert len(set(values)) == len(values), name
    asked = [kind.asked for kind in KINDS if kind.carries_data]
    assert len(set(asked)) == len(asked)
    assert all(re.fullmatch("#[0-9A-F]{6}", kind.colour) for kind in KINDS)


def test_a_new_file_is_a_new_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It claims packets and has its place in diagrams, and no other file knows of it."""
    text = (FOLDER / "original.py").read_text()
    for old, new in (("original", "large"), ("#222222", "#123456"), ("10,", "15,"), ("40,", "1,"), ("> 0", "> 1000")):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (tmp_path / "large.py").write_text(text)
    monkeypatch.setattr(kinds, "__path__", [*kinds.__path__, str(tmp_path)])
    found = find_kinds()
    assert [kind.key for kind in found][:3] == ["original", "large", "probe"]
    monkeypatch.setattr(registry, "KINDS", found)
    assert keys(analysis_of([(0, 1, 0, 1001), (0, 1002, 1001, 1000)])) == ["large", "original"]


def test_each_kind() -> None:
    analysis = analysis_of(
        [
            (0, 1, 0, 400),
            (1, 1, 0, 400),  # the other subflow's bytes
            (0, 1, 0, 400),  # its own, as before
            (0, 401, 0, 400),  # its own, with new sequence numbers
            (0, 801, 300, 400),  # with new data
        ]
    )
    assert keys(analysis) == ["original", "reinjection", "retransmission", "repeated", "original"]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 12), st.integers(0, 12), st.integers(1, 6)), max_size=30))
def test_every_packet_is_of_one_kind(rows: list[tuple[int, int, int, int]]) -> None:
    analysis = analysis_of(rows)
    if rows:
        assert len(keys(analysis)) == len(rows)
    resent = analysis.resent
    for row, key in enumerate(keys(analysis)):
        assert (key == "repeated") == (not resent.new[row] + resent.retransmitted[row] + resent.reinjected[row])


def test_a_packet_that_no_kind_claims_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    analysis = analysis_of([(0, 1, 0, 400), (1, 1, 0, 400)])
    monkeypatch.setattr(registry, "KINDS", [kind for kind in KINDS if kind.key != "reinjection"])
    with pytest.raises(LookupError, match="the data packet 1 is of no kind"):
        keys(analysis)
