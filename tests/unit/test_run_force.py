# SPDX-License-Identifier: Apache-2.0
"""`force=1`: what is sealed is run again, and what comes out is held against it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from test_compare_verify import PLACE, job, project, run_guest  # noqa: F401

from pathwarp.base.complaints import Complaints
from pathwarp.compare.repeated import repeat
from pathwarp.measure import again
from pathwarp.results.manifest import file_hashes
from pathwarp.results.runfolder import in_progress
from pathwarp.results.sealed import is_whole
from pathwarp.run import queue
from pathwarp.run.worker import Job, Outcome, perform

METRIC = "affected_burst_completion_time_ms"


@pytest.fixture
def force(job, monkeypatch, capsys):  # noqa: F811
    """A function that runs the trial with `force=1` and a guest; returns how many failed, and the output."""

    def call(fill=run_guest, now: Job = job, again_with=repeat) -> tuple[int, str]:
        def run_jobs(jobs: list[Job], number: int, report) -> int:
            failed = 0
            for one in jobs:
                outcome = perform(one, None)
                failed += bool(outcome.reason)
                report(outcome)
            return failed

        monkeypatch.setattr("pathwarp.run.worker.emulate", lambda one, folder, backend: fill(one, folder))
        monkeypatch.setattr(again, "measure", lambda folder: {"format": 1, METRIC: 250.0})
        monkeypatch.setattr(queue, "make_jobs", lambda root, trials, finish: [replace(now, finish=finish)])
        monkeypatch.setattr(queue, "run_jobs", run_jobs)
        failed = queue.run_trials(now.root, [now.trial], 1, 0, again_with)
        return failed, capsys.readouterr().out

    return call


def other_guest(one: Job, folder: Path) -> None:
    run_guest(one, folder)
    (folder / "logs/ditg-receiver.txt").write_text("other")


def content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_an_equal_trial_is_said_to_be_equal_and_nothing_changes(job, force):  # noqa: F811
    before = content(job.root / "results")
    digest = json.loads((job.final / "manifest.json").read_text())["files_sha256"]
    failed, output = force()
    assert failed == 0
    assert output == f"[1/1] cut plain pings seed 1: equal to the byte, 11 files, SHA-256 over all {digest}\n"
    assert content(job.root / "results") == before


def test_another_outcome_is_shown_counts_as_failed_and_both_are_kept(job, force):  # noqa: F811
    before = content(job.final)
    failed, output = force(other_guest)
    assert failed == 1
    lines = [line.strip() for line in output.splitlines()]
    assert lines[0] == "[1/1] cut plain pings seed 1: DIFFERENT"
    assert lines[1] == "1 of 11 files: logs/ditg-receiver.txt"
    assert lines[-1] == f"to compare: make diff a={PLACE} b={PLACE.replace('results', 'results/.differs')}"
    assert content(job.final) == before
    assert (job.root / PLACE.replace("results", "results/.differs") / "logs/ditg-receiver.txt").read_text() == "other"


@pytest.mark.parametrize("name", ["captures/server-4g.pcap", "manifest.json"])
def test_a_damaged_folder_is_replaced_by_the_trial_that_its_manifest_speaks_of(job, force, name):  # noqa: F811
    good = file_hashes(job.final)
    file = job.final / name
    file.write_bytes(file.read_bytes().replace(b'"wall_s": 1.0', b'"wall_s": 2.0')[: None if "json" in name else 10])
    damaged = content(job.final)
    failed, output = force()
    assert failed == 0
    assert f"sealed anew: damaged since it was sealed: {name}" in output
    place = PLACE.replace("results", "results/.replaced") + f"-{job.trial_id[:12]}"
    assert f"the damaged one is in {place}" in output
    assert file_hashes(job.final) == good
    assert is_whole(job.final)
    assert sorted(content(job.root / place).values()) == sorted(damaged.values())
    assert force()[1].startswith("[1/1] cut plain pings seed 1: equal to the byte")


def test_a_damaged_folder_stays_when_the_trial_comes_out_otherwise(job, force):  # noqa: F811
    (job.final / "captures/server-4g.pcap").write_bytes(b"")
    failed, output = force(other_guest)
    assert failed == 1
    assert "damaged since they were sealed, says the manifest: captures/server-4g.pcap" in output
    assert (job.final / "captures/server-4g.pcap").read_bytes() == b""
    assert (job.root / PLACE.replace("results", "results/.differs")).is_dir()


def test_in_real_time_the_new_result_takes_the_place_of_the_old(job, force):  # noqa: F811
    real = replace(job, trial=replace(job.trial, scenario=job.trial.scenario.model_copy(update={"time": "real"})))
    failed, output = force(other_guest, now=real)
    assert failed == 0
    place = PLACE.replace("results", "results/.replaced") + f"-{job.trial_id[:12]}"
    assert output.rstrip().endswith(f"; what was sealed before is in {place}")
    assert (job.final / "logs/ditg-receiver.txt").read_text() == "other"
    assert (job.root / place / "logs/ditg-receiver.txt").read_text() != "other"


def test_without_force_what_is_sealed_is_not_run(job, force):  # noqa: F811
    failed, output = force(fill=None, again_with=None)
    assert (failed, output) == (0, "1 of 1 trials are sealed already\n")


def test_what_another_run_sealed_meanwhile_is_recognised_and_not_run(job, monkeypatch):  # noqa: F811
    monkeypatch.setattr("pathwarp.run.worker.emulate", lambda one, folder, backend: pytest.fail("it was run"))
    assert perform(replace(job, recognise=True), None).found
    assert not list((job.root / "results" / ".in-progress").glob("*"))


def test_a_folder_of_an_unknown_format_is_named_before_anything_runs(job, force):  # noqa: F811
    manifest = job.final / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "format": 99}))
    with pytest.raises(Complaints, match=r"manifest\.json: is of format 99, which is unknown here"):
        force(fill=None)


def test_raw_files_that_cannot_be_measured_stay_sealed(job, force, monkeypatch):  # noqa: F811
    now = replace(job, trial_id="a" * 64)
    monkeypatch.setattr("pathwarp.run.worker.emulate", lambda one, folder, backend: run_guest(one, folder))
    with in_progress(job.root / "results", now.trial_id):
        outcome: Outcome = perform(replace(now, finish=queue.seal_and_measure, retries=3), None)
    assert "it can't be measured: " in outcome.reason
    assert "`make measure` tries again, force=1 runs the trial again" in outcome.reason
    assert not outcome.again
    assert is_whole(job.final)
    assert json.loads((job.final / "manifest.json").read_text())["trial_id"] == "a" * 64
    assert not (job.final / "metrics.json").exists()
    assert not (job.root / "results/.failed").exists()
