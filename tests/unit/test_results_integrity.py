# SPDX-License-Identifier: Apache-2.0
"""Sealed folders against their manifests."""

import json
import subprocess
from pathlib import Path

import pytest
import sealed_writer

from pathwarp.base.atomic import write_json
from pathwarp.base.complaints import Complaints, Exit
from pathwarp.cli import main
from pathwarp.measure.code import measuring_code
from pathwarp.results.integrity import Checked, check_folder, check_results
from pathwarp.results.manifest import file_hashes, one_hash
from pathwarp.results.metricsfile import State

FILES = {"captures/server-wlan.pcap": b"packets", "captures/client-wlan.pcap": b"", "logs/plan.json": b"{}"}


def seal(results: Path, place: str = "cut/plain/pings/seed-001", **more: object) -> Path:
    """A sealed folder with three raw files and metrics."""
    for name, content in FILES.items():
        (results / place / name).parent.mkdir(parents=True, exist_ok=True)
        (results / place / name).write_bytes(content)
    return sealed_writer.seal(results / place, **{"metrics": {"goodput_mbps": 1.5}, **more})


def check(folder: Path) -> Checked:
    return check_folder(folder, measuring_code())


def test_what_is_as_it_was_sealed_has_no_problems(tmp_path):
    checked = check(seal(tmp_path))
    assert checked.problems == ()
    assert checked.files == 5
    assert checked.size_bytes == sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())


def test_each_problem_is_named(tmp_path):
    folder = seal(tmp_path)
    (folder / "captures/server-wlan.pcap").write_bytes(b"pockets")
    (folder / "captures/client-wlan.pcap").unlink()
    (folder / "captures/eve-wlan.pcap").write_bytes(b"")
    (folder / ".hidden").write_bytes(b"")
    (folder / ".metrics.json.4194304").write_bytes(b"a draft of a killed process")
    assert check(folder).problems == (
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
    assert check(folder).problems == (
        "captures/server-wlan.pcap: can't be read: No such file or directory",
        "logs/plan.json: missing",
    )


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b"null",
        b"{}",
        b'{"format": 2, "files": []}',
        b'{"format": 1, "files": {}, "seed": "x"}',
    ],
)
def test_a_manifest_that_cannot_be_read_is_named(tmp_path, content):
    folder = seal(tmp_path)
    (folder / "manifest.json").write_bytes(content)
    (problem,) = check(folder).problems
    assert problem.startswith(("manifest.json: can't be read: ", "manifest.json: says no format"))


def test_a_manifest_that_is_gone_changed_or_of_another_trial_is_named(tmp_path):
    folder = seal(tmp_path)
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace("1.25", "1.26"))
    assert check(folder).problems == ("manifest.json: damaged",)
    manifest.unlink()
    assert check(folder).problems == ("manifest.json: missing",)
    moved = seal(tmp_path).rename(folder.with_name("seed-002"))
    assert check(moved).problems == ("manifest.json: is that of plain/pings/seed-001",)


def test_a_manifest_from_before_it_hashed_itself_counts(tmp_path):
    folder = seal(tmp_path, number=1)
    record = json.loads((folder / "manifest.json").read_text())
    del record["measured"], record["manifest_sha256"]
    write_json(folder / "manifest.json", record)
    assert (check(folder).problems, check(folder).metrics) == ((), State.OUTDATED)
    (folder / "metrics.json").unlink()
    assert (check(folder).problems, check(folder).metrics) == ((), State.MISSING)


def test_metrics_are_held_against_their_record_and_not_against_the_manifest(tmp_path):
    folder = seal(tmp_path)
    manifest = (folder / "manifest.json").read_bytes()
    good = (folder / "metrics.json").read_text()
    assert check(folder).metrics is State.CURRENT
    assert check_folder(folder, "other code").metrics is State.OUTDATED
    (folder / "logs/plan.json").write_bytes(b"{ }")
    assert (check(folder).problems, check(folder).metrics) == (("logs/plan.json: damaged",), State.CURRENT)
    (folder / "logs/plan.json").write_bytes(FILES["logs/plan.json"])
    changes = {
        "damaged since it was measured": ("1.5", "2.5"),
        "made from other raw files than those of the manifest": (one_hash(file_hashes(folder)), "0" * 64),
        "is of format 99, which is unknown here (valid: format 1)": ('"format": 1,\n', '"format": 99,\n'),
        "record: is of format 99, which is unknown here (valid: format 1)": ('{"files', '{"format": 99, "files'),
        "is not JSON": ("{", ""),
        "says no format (valid: format 1)": (good, "{}"),
        "is not a JSON object": (good, "[]"),
    }
    for words, (old, new) in changes.items():
        assert old in good
        text = good.replace(old, new, 1)
        if "record: " in words:
            text = text.replace(', "format": 1,', ",")
        (folder / "metrics.json").write_text(text)
        found = check(folder)
        assert (found.problems, found.metrics) == ((), State.UNUSABLE), words
        assert words in found.unusable[0]
    (folder / "metrics.json").unlink()
    assert check(folder).metrics is State.MISSING
    assert (folder / "manifest.json").read_bytes() == manifest


def test_metrics_of_format_1_are_held_against_the_manifest(tmp_path):
    folder = seal(tmp_path, number=1)
    assert (check(folder).problems, check(folder).metrics) == ((), State.OUTDATED)
    (folder / "metrics.json").write_text('{"format": 1, "goodput_mbps": 2.5}')
    assert check(folder).unusable == ("metrics.json: damaged since it was sealed",)


def test_a_manifest_of_an_unknown_format_is_named(tmp_path):
    folder = seal(tmp_path, number=99)
    assert check(folder).problems == ("manifest.json: is of format 99, which is unknown here (valid: format 1 or 2)",)


def test_all_folders_or_those_of_a_scenario_are_checked(tmp_path):
    places = ["cut/plain/pings/seed-001", "cut/plain/pings/seed-002", "cut+duration=3-s/plain/pings/seed-001"]
    for place in [*places, "cutter/plain/pings/seed-001", ".replaced/plain/pings/seed-001"]:
        seal(tmp_path, place)
    (tmp_path / "cut/figures").mkdir()
    (tmp_path / "README.md").write_text("")
    names = [checked.folder.relative_to(tmp_path).as_posix() for checked in check_results(tmp_path, "")]
    assert names == [*places, "cutter/plain/pings/seed-001"]
    assert [checked.folder.relative_to(tmp_path).as_posix() for checked in check_results(tmp_path, "", "cut")] == places
    with pytest.raises(Complaints) as raised:
        list(check_results(tmp_path, "", "cuter"))
    assert "valid: cut, cutter" in str(raised.value)


def test_the_command_says_what_is_wrong_and_how_much_is_right(tmp_path, capsys):
    call = ["--root", str(tmp_path), "check-results"]
    assert main(call) == Exit.DONE
    assert capsys.readouterr().out.startswith("0 of 0 sealed trials are as they were sealed: 0 files, 0 B\n")
    seal(tmp_path / "results")
    damaged = seal(tmp_path / "results", "cut/plain/pings/seed-002")
    (damaged / "logs/plan.json").unlink()
    assert main([*call, "--scenario", "cut"]) == Exit.FAILED
    printed = capsys.readouterr()
    assert printed.out.splitlines()[0] == f"{damaged}/logs/plan.json: missing"
    assert "1 of 2 sealed trials" in printed.out
    assert "run the trials again" in printed.err
    assert "2 of 2 have metrics that are as they were made, from these raw files\n" in printed.out
    assert main([*call, "--scenario", "../etc"]) == Exit.BAD_INPUT


def test_metrics_of_other_code_or_none_are_no_damage_and_damaged_ones_are(tmp_path, capsys):
    call = ["--root", str(tmp_path), "check-results"]
    seal(tmp_path / "results", code="0" * 64)
    seal(tmp_path / "results", "cut/plain/pings/seed-002", metrics=None)
    assert main(call) == Exit.DONE
    assert capsys.readouterr().out.splitlines() == [
        "2 of 2 sealed trials are as they were sealed: 9 files, "
        f"{sum(path.stat().st_size for path in tmp_path.rglob('*') if path.is_file())} B",
        "1 of 2 have metrics that are as they were made, from these raw files",
        "1 of these are of other measuring code: the next table, or `make measure`, makes them again",
        "1 have no metrics yet: the next table, or `make measure`, makes them",
    ]
    (tmp_path / "results/cut/plain/pings/seed-001/metrics.json").write_text("{")
    assert main(call) == Exit.FAILED
    assert "seed-001/metrics.json: is not JSON" in capsys.readouterr().out


def test_one_hash_is_what_sha256sum_makes_of_its_own_lines(tmp_path):
    folder = seal(tmp_path)
    script = "find captures logs -type f | LC_ALL=C sort | xargs sha256sum | sha256sum"
    made = subprocess.run(["sh", "-c", script], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert made.split()[0] == one_hash(file_hashes(folder))


def test_the_kernels_own_tests_have_no_metrics(tmp_path):
    place = tmp_path / "results" / "selftests" / "plain" / "diag" / "seed-001"
    seal(tmp_path / "results", "selftests/plain/diag/seed-001", metrics=None, selftest={"name": "diag"})
    checked = check(place)
    assert (checked.problems, checked.metrics) == ((), None)
    (place / "logs/plan.json").write_bytes(b"other")
    assert check(place).problems == ("logs/plan.json: damaged",)


def test_what_has_metrics_and_what_has_none_are_counted_apart(tmp_path, capsys):
    seal(tmp_path / "results")
    seal(tmp_path / "results", "selftests/plain/diag/seed-001", metrics=None, selftest={"name": "diag"})
    assert main(["--root", str(tmp_path), "check-results"]) == Exit.DONE
    said = capsys.readouterr().out
    assert "2 of 2 sealed trials are as they were sealed" in said
    assert "1 of 1 have metrics that are as they were made" in said
    assert main(["--root", str(tmp_path), "measure"]) == Exit.DONE
    assert "of 1 measured" in capsys.readouterr().out
