# SPDX-License-Identifier: Apache-2.0
"""Metrics of sealed folders: which are made again, what is written, and what is said."""

import json
import os
import shutil
import signal
from pathlib import Path

import pytest
import sealed_writer
from trial_writer import TrialWriter

from pathwarp.base.complaints import Complaint, Exit
from pathwarp.cli import main
from pathwarp.measure import again
from pathwarp.measure.again import measured_results, renew
from pathwarp.measure.code import PACKAGE, measuring_code, taking_part
from pathwarp.results.reading import Wanted

OTHER = "0" * 64


def fill(folder: Path) -> Path:
    """The raw files of a trial with one burst, read 6 ms after it was sent."""
    made = TrialWriter(folder, bursts=[[0.0, 400]])
    made.open("wlan", -500)
    made.open("4g", -400)
    made.send("wlan", 0, 0, 400)
    made.log(400, 0, 6)
    return made.finish()


@pytest.fixture
def results(tmp_path) -> Path:
    return tmp_path / "results"


def place(results: Path, seed: int, scenario: str = "cut", variant: str = "plain") -> Path:
    return results / scenario / variant / "pings" / f"seed-{seed:03d}"


def seal(results: Path, seed: int, code: str = OTHER, **more: object) -> Path:
    """A sealed folder whose metrics say 1 Mbit/s, which is not what its raw files say."""
    metrics = {"goodput_mbps": 1.0, "loss_events": []}
    return sealed_writer.seal(fill(place(results, seed)), **{"metrics": metrics, "code": code, **more})


def metrics_of(folder: Path) -> dict:
    return json.loads((folder / "metrics.json").read_text())


def goodput(folder: Path) -> float:
    return metrics_of(folder)["goodput_mbps"]


MEASURED = 0.533333  # 400 B in 6 ms, in Mbit/s


def test_metrics_of_other_code_and_none_are_made_and_the_others_stay(results):
    outdated, current, missing = seal(results, 1), seal(results, 2, ""), seal(results, 3, metrics=None)
    old = seal(results, 4, number=1)
    raw = {path: path.read_bytes() for path in results.rglob("*") if path.is_file() and path.name != "metrics.json"}
    renewed = renew([outdated, current, missing, old], jobs=2)
    assert renewed.complaints == []
    assert (renewed.made, renewed.current) == (3, 1)
    assert renewed.lines() == [
        "2 trials measured again: the measuring code changed",
        "1 trial measured: sealed without metrics",
    ]
    assert [goodput(folder) for folder in (outdated, current, missing, old)] == [MEASURED, 1.0, MEASURED, MEASURED]
    assert metrics_of(outdated)["record"]["measuring_code_sha256"] == measuring_code()
    assert metrics_of(outdated) == metrics_of(missing) == metrics_of(old)
    assert {path: path.read_bytes() for path in raw} == raw
    assert sorted(path.name for path in old.iterdir()) == ["captures", "logs", "manifest.json", "metrics.json"]
    assert renew([outdated, current, missing, old], jobs=1).lines() == []


def test_damaged_metrics_are_made_again_when_asked(results):
    folder = seal(results, 1)
    (folder / "metrics.json").write_text((folder / "metrics.json").read_text().replace("1.0", "2.0"))
    renewed = renew([folder], jobs=1)
    assert (renewed.made, renewed.without) == (0, {folder})
    (complaint,) = renewed.complaints
    assert complaint.where == str(folder / "metrics.json")
    assert complaint.what == "damaged since it was measured"
    assert complaint.hint == "`make measure` makes it again from the raw files"
    renewed = renew([folder], jobs=1, mend=True)
    assert (renewed.made, renewed.complaints, goodput(folder)) == (1, [], MEASURED)


def test_damaged_raw_files_are_not_measured_and_cost_only_their_trial(results):
    good, damaged, unsealed = seal(results, 1), seal(results, 2), seal(results, 3)
    (damaged / "logs/ditg-receiver.txt").write_text("other")
    (unsealed / "manifest.json").unlink()
    complaints: list[Complaint] = []
    found, lines = measured_results(
        results, [Wanted("cut", ["plain"], ["pings"])], complaints, "make scenario=cut", jobs=2
    )
    assert [trial.folder for trial in found] == [good]
    assert lines == ["1 trial measured again: the measuring code changed"]
    assert {complaint.where for complaint in complaints} == {str(damaged / "logs/ditg-receiver.txt"), str(unsealed)}
    assert goodput(damaged) == 1.0


def test_metrics_that_cannot_be_written_are_made_for_the_moment(results, monkeypatch):
    folder = seal(results, 1)
    before = (folder / "metrics.json").read_bytes()

    def write(*arguments: object) -> None:
        raise OSError(again.errno.EROFS, "Read-only file system")

    monkeypatch.setattr(again, "write_metrics", write)
    complaints: list[Complaint] = []
    (found,), lines = measured_results(
        results, [Wanted("cut", ["plain"], ["pings"])], complaints, "make scenario=cut", jobs=1
    )
    assert found.value("goodput_mbps") == MEASURED
    assert lines[-1] == "1 trial measured for now only: the metrics can't be written there"
    assert ((folder / "metrics.json").read_bytes(), complaints) == (before, [])


def test_a_disk_that_is_full_is_a_complaint(results, monkeypatch):
    folder = seal(results, 1)

    def write(*arguments: object) -> None:
        raise OSError(again.errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(again, "write_metrics", write)
    (complaint,) = renew([folder], jobs=1).complaints
    assert (complaint.what, complaint.hint) == ("can't be written: No space left on device", "free some space")


def test_drafts_of_killed_processes_go(results):
    folder = seal(results, 1)
    (folder / ".metrics.json.4194304").write_text("{")
    renew([folder], jobs=1)
    assert not (folder / ".metrics.json.4194304").exists()


def test_a_process_that_is_killed_is_said(results, monkeypatch):
    folders = [seal(results, seed) for seed in (1, 2)]
    monkeypatch.setattr(again, "measure", lambda folder: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(again.Complaints, match="was killed"):
        renew(folders, jobs=2)
    assert [goodput(folder) for folder in folders] == [1.0, 1.0]


def test_the_command_says_how_many_were_made(results, capsys):
    call = ["--root", str(results.parent), "measure"]
    for seed in (1, 2):
        seal(results, seed)
    shutil.copytree(place(results, 1), place(results, 3, scenario="cut+duration=3-s"))
    sealed_writer.seal(fill(place(results, 1, variant="better")), {"goodput_mbps": 1.0})
    assert main([*call, "--scenario", "cut", "--variant", "better"]) == Exit.DONE
    assert capsys.readouterr().out == "0 of 1 measured, 1 were up to date\n"
    (place(results, 2) / "captures/client-wlan.pcap").write_bytes(b"")
    assert main([*call, "--jobs", "1"]) == Exit.FAILED
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1] == "2 of 4 measured, 1 were up to date, 1 can't be measured"
    assert "seed-002/captures/client-wlan.pcap: damaged since it was sealed" in printed.err
    assert main([*call, "--scenario", "cud", "--variant", "plan", "--jobs", "x"]) == Exit.BAD_INPUT
    errors = capsys.readouterr().err
    assert all(words in errors for words in ("did you mean cut?", "did you mean plain?", "jobs: 'x'", "3 faults"))


def test_the_code_counts_by_content_and_place_however_deep(tmp_path):
    package = tmp_path / PACKAGE.name
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    original = measuring_code(package)
    assert original == measuring_code()
    names = {path.relative_to(package).as_posix() for path in taking_part(package)}
    assert {"measure/metrics.py", "measure/transports/subflows.py", "wire/pcap.py", "model/metrics.py"} <= names
    assert not {name for name in names if name.split("/")[0] in ("commands", "present", "run", "guest")}

    def now() -> str:
        measuring_code.cache_clear()
        return measuring_code(package)

    seen = {original}
    for name in ("measure/delays.py", "wire/tcp.py", "base/jsonfile.py", "measure/apps/ditg.py", "model/metrics.py"):
        file = package / name
        file.write_text(f"{file.read_text()}# more\n")
        assert now() not in seen, name
        seen.add(now())
    for name in ("measure/transports/deep/sctp.py", "wire/new.py"):
        (package / name).parent.mkdir(exist_ok=True)
        (package / name).write_text("")
        assert now() not in seen, name
        seen.add(now())
    (package / "wire/new.py").rename(package / "wire/newer.py")
    assert now() not in seen
    last = now()
    for name in ("present/table.py", "commands/measure.py", "run/worker.py", "guest/flow.py", "model/overrides.py"):
        (package / name).write_text("# other\n")
    assert now() == last
    measuring_code.cache_clear()
