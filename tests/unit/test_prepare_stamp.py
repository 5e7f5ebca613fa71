# SPDX-License-Identifier: Apache-2.0
"""Hashes of inputs, and products that are there whole or not at all."""

import pytest

from pathwarp.base.complaints import Complaints
from pathwarp.base.hashing import hash_file, hash_parts
from pathwarp.prepare.stamp import publish, read_stamp, work_folder, write_stamp


def test_the_hash_says_what_is_in_which_part():
    parts = [("a", b"one"), ("b", b"two")]
    others = [
        [("a", b"onet"), ("b", b"wo")],
        [("b", b"two"), ("a", b"one")],
        [("a", b"one")],
        [("a", b"one"), ("c", b"two")],
        [("a", b"one"), ("b", b"two"), ("", b"")],
    ]
    assert len({hash_parts(parts), *map(hash_parts, others)}) == 1 + len(others)
    assert hash_parts(iter(parts)) == hash_parts(parts)


def test_the_hash_of_a_file_is_that_of_sha256sum(tmp_path):
    (tmp_path / "file").write_bytes(b"abc")
    assert hash_file(tmp_path / "file") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize("content", [None, "", "{", "[]", "\xff"])
def test_a_stamp_that_is_missing_or_cut_off_is_empty(tmp_path, content):
    if content is not None:
        (tmp_path / "stamp").write_bytes(content.encode("latin-1"))
    assert read_stamp(tmp_path / "stamp") == {}


def test_a_stamp_comes_back_as_written(tmp_path):
    write_stamp(tmp_path / "stamp", {"b": 1, "a": ["x"]})
    assert read_stamp(tmp_path / "stamp") == {"a": ["x"], "b": 1, "format": 1}


def test_a_stamp_of_before_stamps_had_a_format_is_read(tmp_path):
    (tmp_path / "stamp").write_text('{"inputs": "x"}')
    assert read_stamp(tmp_path / "stamp") == {"inputs": "x"}


@pytest.mark.parametrize("number", ["99", "0", '"1"', "true", "1.5"])
def test_a_stamp_of_another_format_is_refused_with_what_to_do(tmp_path, number):
    (tmp_path / "stamp").write_text(f'{{"format": {number}}}')
    with pytest.raises(Complaints) as caught:
        read_stamp(tmp_path / "stamp")
    (complaint,) = caught.value.complaints
    assert complaint.where == str(tmp_path / "stamp")
    assert complaint.what.endswith(", which is unknown here")
    assert complaint.valid == "format 1"
    assert f"remove {tmp_path}, and it is made again" in complaint.hint


def test_publishing_replaces_the_whole_folder(tmp_path):
    place = tmp_path / "build" / "lab"
    for content in ("old", "new"):
        with work_folder(tmp_path, "lab") as work:
            (work / "made").mkdir()
            (work / "made" / content).touch()
            publish(tmp_path, work / "made", place)
        assert [path.name for path in place.iterdir()] == [content]
    assert list((tmp_path / "build" / "work").iterdir()) == []


def test_a_failed_build_leaves_the_old_product_and_no_work(tmp_path):
    place = tmp_path / "build" / "lab"
    place.mkdir(parents=True)
    (place / "old").touch()
    with pytest.raises(RuntimeError), work_folder(tmp_path, "lab") as work:
        (work / "made").mkdir()
        raise RuntimeError
    assert [path.name for path in place.iterdir()] == ["old"]
    assert list((tmp_path / "build" / "work").iterdir()) == []
