# SPDX-License-Identifier: Apache-2.0
"""Sealed folders against their manifests."""

import hashlib
import json
import subprocess
from pathlib import Path

import pytest

from pathwarp.base.complaints import Complaints, Exit
from pathwarp.cli import main
from pathwarp.results.integrity import check_folder, check_results
from pathwarp.results.manifest import file_hashes, one_hash, own_hash
from pathwarp.results.runfolder import write_json

FILES = {"captures/server-wlan.pcap": b"packets", "captures/client-wlan.pcap": b"", "logs/plan.json": b"{}"}


def seal(results: Path, place: str = "cut/plain/pings/seed-001") -> Path:
    """A sealed folder with three raw files."""
    folder = results / place
    for name, content in {**FILES, "metrics.json": b"{}"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    _, variant, traffic, seed = place.split("/")
    record = {
        "seed": int(seed[-3:]),
        "variant": {"name": variant},
        "traffic": {"name": traffic},
        "files": file_hashes(folder),
        "measured": {"metrics.json": hashlib.sha256(b"{}").hexdigest()},
        "wall_s": 1.25,
    }
    write_json(folder / "manifest.json", {**record, "manifest_sha256": own_hash(record)})
    return folder


def test_what_is_as_it_was_sealed_has_no_problems(tmp_path):
    checked = check_folder(seal(tmp_path))
    assert checked.problems == ()
    assert checked.files == 5
    assert checked.size_bytes == sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())


def test_each_problem_is_named(tmp_path):
    folder = seal(tmp_path)
    (folder / "captures/server-wlan.pcap").write_bytes(b"pockets")
    (folder / "captures/client-wlan.pcap").unlink()
    (folder / "captures/eve-wlan.pcap").write_bytes(b"")
    (folder / ".hidden").write_bytes(b"")
    (folder / "metrics.json").write_text("{ }")
    assert check_folder(folder).problems == (
        "metrics.json: damaged",
        "captures/client-wlan.pcap: missing",
        "captures/server-wlan.pcap: damaged",
        ".hidden: extra",
        "captures/eve-wlan.pcap: extra",
    )


def test_a_file_that_became_a_folder_or_a_dead_link_is_no_file(tmp_path):
    folder = seal(tmp_path)
    (folder / "logs/plan.json").unlink()
    (folder / "logs/plan.json").mkdir()
    (folder / "captures/server-wlan.pcap").unlink()
    (folder / "captures/server-wlan.pcap").symlink_to("nowhere")
    assert check_folder(folder).problems == (
        "captures/server-wlan.pcap: can't be read: No such file or directory",
        "logs/plan.json: missing",
    )


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff", b"[]", b"null", b"{}", b'{"files": []}', b'{"files": {}, "seed": "x"}']
)
def test_a_manifest_that_cannot_be_read_is_named(tmp_path, content):
    folder = seal(tmp_path)
    (folder / "manifest.json").write_bytes(content)
    (problem,) = check_folder(folder).problems
    assert problem.startswith("manifest.json: can't be read: ")


def test_a_manifest_that_is_gone_changed_or_of_another_trial_is_named(tmp_path):
    folder = seal(tmp_path)
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace("1.25", "1.26"))
    assert check_folder(folder).problems == ("manifest.json: damaged",)
    manifest.unlink()
    assert check_folder(folder).problems == ("manifest.json: missing",)
    moved = seal(tmp_path).rename(folder.with_name("seed-002"))
    assert check_folder(moved).problems == ("manifest.json: is that of plain/pings/seed-001",)


def test_a_manifest_from_before_it_hashed_itself_counts(tmp_path):
    folder = seal(tmp_path)
    record = json.loads((folder / "manifest.json").read_text())
    del record["measured"], record["manifest_sha256"]
    write_json(folder / "manifest.json", record)
    assert check_folder(folder).problems == ()
    (folder / "metrics.json").unlink()
    assert check_folder(folder).problems == ("metrics.json: missing",)


def test_all_folders_or_those_of_a_scenario_are_checked(tmp_path):
    places = ["cut/plain/pings/seed-001", "cut/plain/pings/seed-002", "cut+duration=3-s/plain/pings/seed-001"]
    for place in [*places, "cutter/plain/pings/seed-001", ".replaced/plain/pings/seed-001"]:
        seal(tmp_path, place)
    (tmp_path / "cut/figures").mkdir()
    (tmp_path / "README.md").write_text("")
    names = [checked.folder.relative_to(tmp_path).as_posix() for checked in check_results(tmp_path)]
    assert names == [*places, "cutter/plain/pings/seed-001"]
    assert [checked.folder.relative_to(tmp_path).as_posix() for checked in check_results(tmp_path, "cut")] == places
    with pytest.raises(Complaints) as raised:
        list(check_results(tmp_path, "cuter"))
    assert "valid: cut, cutter" in str(raised.value)


def test_the_command_says_what_is_wrong_and_how_much_is_right(tmp_path, capsys):
    call = ["--root", str(tmp_path), "check-results"]
    assert main(call) == Exit.DONE
    assert capsys.readouterr().out == "0 of 0 sealed trials are as they were sealed: 0 files, 0 B\n"
    seal(tmp_path / "results")
    damaged = seal(tmp_path / "results", "cut/plain/pings/seed-002")
    (damaged / "logs/plan.json").unlink()
    assert main([*call, "--scenario", "cut"]) == Exit.FAILED
    printed = capsys.readouterr()
    assert printed.out.splitlines()[0] == f"{damaged}/logs/plan.json: missing"
    assert "1 of 2 sealed trials" in printed.out
    assert "run the trials again" in printed.err
    assert main([*call, "--scenario", "../etc"]) == Exit.BAD_INPUT


def test_one_hash_is_what_sha256sum_makes_of_its_own_lines(tmp_path):
    folder = seal(tmp_path)
    script = "find captures logs -type f | LC_ALL=C sort | xargs sha256sum | sha256sum"
    made = subprocess.run(["sh", "-c", script], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert made.split()[0] == one_hash(file_hashes(folder))
