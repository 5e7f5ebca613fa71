# SPDX-License-Identifier: Apache-2.0
"""Files that are there whole or not at all."""

import os
import subprocess

import pytest

from pathwarp.base.atomic import drafts, write_data_file, write_json, write_whole
from pathwarp.base.complaints import Complaints


def test_what_was_there_is_replaced_and_nothing_stays_beside(tmp_path):
    file = tmp_path / "file"
    for content in ("one\r\n", b"two\xff", "drei ä"):
        write_whole(file, content)
        assert file.read_bytes() == (content if isinstance(content, bytes) else content.encode())
    assert list(tmp_path.iterdir()) == [file]


def test_what_cannot_be_written_leaves_what_was_there(tmp_path):
    file = tmp_path / "file"
    write_whole(file, "old")
    with pytest.raises(ValueError, match="Out of range"):
        write_json(file, {"a": float("nan")})
    (tmp_path / "folder" / "inside").mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path / "folder", "new")
    assert file.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_a_data_file_gets_its_folder_or_a_complaint(tmp_path):
    write_data_file(tmp_path / "a" / "b.csv", "x\n")
    assert (tmp_path / "a" / "b.csv").read_text() == "x\n"
    with pytest.raises(Complaints, match=r"b\.csv/c: cannot be written: ") as caught:
        write_data_file(tmp_path / "a" / "b.csv" / "c", "x")
    assert caught.value.complaints[0].valid == "a file in a folder that may be written"


def test_drafts_are_those_of_processes_that_ended(tmp_path):
    with subprocess.Popen(["true"]) as ended:
        pass
    names = [f".file.{ended.pid}", f".file.{os.getpid()}", ".file.txt", f".other.{ended.pid}"]
    for name in names:
        (tmp_path / name).touch()
    assert [path.name for path in drafts(tmp_path / "file")] == names[:1]
