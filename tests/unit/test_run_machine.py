# SPDX-License-Identifier: Apache-2.0
"""What the host takes from a virtual machine: its raw files, and nothing that points elsewhere."""

import io
import tarfile

import pytest

from pathwarp.run.guests.machine import Machine, MachineFailed


@pytest.fixture
def fetch(tmp_path, monkeypatch):
    """Names and link targets of a machine's archive -> the run folder that it was unpacked into."""

    def run(*members: tuple[str, str]):
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for name, target in members:
                member = tarfile.TarInfo(name)
                member.type, member.linkname = (tarfile.SYMTYPE, target) if target else (tarfile.REGTYPE, "")
                archive.addfile(member, io.BytesIO())
        machine = Machine.__new__(Machine)
        machine.state = tmp_path
        monkeypatch.setattr(machine, "_ssh", lambda *words, output, **more: output.write(packed.getvalue()))
        folder = tmp_path / "run"
        folder.mkdir()
        machine._fetch(folder)
        return folder

    return run


def test_raw_files_arrive(fetch):
    folder = fetch(("captures/server-wlan.pcap", ""), ("logs/guest.json", ""))
    assert sorted(path.name for path in folder.rglob("*.*")) == ["guest.json", "server-wlan.pcap"]


@pytest.mark.parametrize("name", ["../x", "logs/../../x", "/x", "manifest.json", "x/y"])
def test_nothing_gets_out_of_the_run_folder(fetch, tmp_path, name):
    with pytest.raises(MachineFailed, match="none of a trial's"):
        fetch((name, ""))
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["fetched.tar", "run"]


@pytest.mark.parametrize("target", ["/etc/passwd", "../../x"])
def test_links_are_refused(fetch, tmp_path, target):
    with pytest.raises(MachineFailed, match="something else than a file"):
        fetch(("logs/x", target))
    assert not list((tmp_path / "run").iterdir())
