# SPDX-License-Identifier: Apache-2.0
"""Repeated trials held against sealed ones, without a guest."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from golden_project import copy_project
from inputs_of_trial import RELEASE, inputs_of
from trial_writer import ZERO_NS, TrialWriter

from pathwarp.base.complaints import Exit
from pathwarp.cli import main
from pathwarp.compare import verify
from pathwarp.compare.outdated import outdated_inputs
from pathwarp.plan.identity import trial_id
from pathwarp.plan.orders import PLAN, orders
from pathwarp.plan.request import Request, plan_trials
from pathwarp.results.manifest import manifest
from pathwarp.results.runfolder import in_progress, seal
from pathwarp.run.worker import Job, Outcome

KERNEL = {
    "release": RELEASE,
    "source": {"version": "6.12.1"},
    "compiler": "gcc 12",
    "config_sha256": "4" * 64,
    "patches": [{"file": "kernels/patches/0001.patch", "sha256": "5" * 64}],
}
LAB = {"packages": {"d-itg": "2.8", "tcpdump": "4.99"}}
PLACE = "results/cut/plain/pings/seed-001"


def run_guest(job: Job, folder: Path) -> None:
    """Fill a run folder as a guest would: a packet's capture, the plan, what was done."""
    writer = TrialWriter(folder)
    writer.open("wlan", 0)
    writer.finish()
    for name, content in orders(job.trial, job.kernel_record["release"]).items():
        (folder / name).write_bytes(content)
    guest = {"flow_start_ns": ZERO_NS, "release": "6.12", "sysctls": {}, "qdiscs": {}}
    (folder / "logs/guest.json").write_text(json.dumps(guest))


@pytest.fixture
def project(tmp_path):
    return copy_project(tmp_path / "project")


@pytest.fixture
def job(project) -> Job:
    """The job of a trial, and the trial sealed."""
    (trial,) = plan_trials(Request(project, "cut", ("plain",), ("pings",), runs=1))
    inputs = inputs_of(trial)
    job = Job(trial, trial_id(inputs), inputs, project, KERNEL, LAB, project, verify.compare)
    with in_progress(project / "results", job.trial_id) as folder:
        run_guest(job, folder)
        (folder / "metrics.json").write_text("{}")
        seal(project / "results", folder, job.final, manifest(trial, job.trial_id, inputs, KERNEL, LAB, folder, 1.0))
    return job


@pytest.fixture
def repeat(job, monkeypatch, capsys):
    """A function that verifies with other jobs and another guest, and returns exit status and output."""

    def call(*arguments: str, now: Job = job, guest=run_guest) -> tuple[int, str]:
        def run_jobs(jobs, number, report):
            for one in jobs:
                with in_progress(one.root / "results", one.trial_id) as folder:
                    guest(one, folder)
                    report(Outcome(one, 1.0, one.finish(one, folder, 0.0)))
            return 0

        monkeypatch.setattr(verify, "make_jobs", lambda root, trials, finish: [now])
        monkeypatch.setattr(verify, "run_jobs", run_jobs)
        status = main(["--root", str(job.root), "verify", "--scenario", "cut", "--variant", "plain", *arguments])
        return status, capsys.readouterr().out

    return call


def test_equal_trials_have_one_hash(job, repeat):
    digest = json.loads((job.final / "manifest.json").read_text())["files_sha256"]
    status, output = repeat("--times", "2")
    assert status == Exit.DONE
    line = f"cut plain pings seed 1: equal to the byte, 11 files, SHA-256 over all {digest}"
    assert output.splitlines() == [f"[1/2] {line}", f"[2/2] {line}", "2 of 2 trials verified"]


def test_the_first_packet_that_differs_is_shown_and_what_is_sealed_stays(job, repeat):
    def guest(one: Job, folder: Path) -> None:
        run_guest(one, folder)
        writer = TrialWriter(folder)
        writer.open("wlan", 0, isn=1001)
        plan, report = ((folder / "logs" / name).read_text() for name in ("plan.json", "guest.json"))
        writer.finish()
        (folder / "logs/plan.json").write_text(plan)
        (folder / "logs/guest.json").write_text(report)

    before = {path: path.read_bytes() for path in job.final.rglob("*") if path.is_file()}
    status, output = repeat(guest=guest)
    assert status == Exit.FAILED
    lines = [line.strip() for line in output.splitlines()]
    assert lines[0] == "[1/1] cut plain pings seed 1: DIFFERENT"
    assert lines[1] == "2 of 11 files: captures/client-wlan.pcap, captures/server-wlan.pcap"
    assert lines[2] == "captures/server-wlan.pcap, packet 1, 0.000000000 s after the start of the flow"
    assert lines[3].startswith("sealed: 10.1.0.1:40001 > 10.1.1.1:8999 SYN, seq 1000,")
    assert lines[4].startswith("now:    10.1.0.1:40001 > 10.1.1.1:8999 SYN, seq 1001,")
    assert lines[5] == f"to compare: make diff a={PLACE} b={PLACE.replace('results', 'results/.differs')}"
    assert lines[6] == "0 of 1 trial verified"
    assert {path: path.read_bytes() for path in job.final.rglob("*") if path.is_file()} == before
    assert (job.root / lines[5].rpartition("b=")[2] / "captures/server-wlan.pcap").is_file()


def test_damage_is_no_other_outcome(job, repeat):
    (job.final / "captures/server-4g.pcap").unlink()
    (job.final / "logs/ditg-receiver.txt").write_text("damaged")
    status, output = repeat()
    assert status == Exit.FAILED
    names = "captures/server-4g.pcap, logs/ditg-receiver.txt"
    assert f"damaged since they were sealed, says the manifest: {names}" in output
    assert "the repeated trial is what the manifest says" in output
    assert not (job.root / "results/.differs").exists()


def test_a_missing_file_of_the_new_run_is_a_difference(job, repeat):
    def guest(one: Job, folder: Path) -> None:
        run_guest(one, folder)
        (folder / "logs/counters-after.json").unlink()

    status, output = repeat(guest=guest)
    assert status == Exit.FAILED
    assert "sealed: there\n    now:    not there" in output


def test_a_trial_with_other_inputs_is_not_run(job, repeat):
    inputs = inputs_of(job.trial, guest={"pathwarp/guest/apps/more.py": "f" * 64})
    now = replace(job, inputs=inputs, trial_id=trial_id(inputs))
    status, output = repeat("--times", "3", now=now, guest=None)
    assert status == Exit.FAILED
    assert output.splitlines() == [
        "cut plain pings seed 1: can't be verified, its inputs changed:",
        f"    guest code.pathwarp/guest/trial.py: {'3' * 24}… when it was sealed, none now",
        f"    guest code.pathwarp/guest/apps/more.py: none when it was sealed, {'f' * 24}… now",
        "    `make scenario=…` runs it with the inputs of now",
        "0 of 3 trials verified",
    ]


def test_what_is_not_sealed_or_has_no_manifest_cannot_be_verified(job, repeat, capsys):
    assert repeat("--runs", "2", "--times", "0")[0] == Exit.BAD_INPUT
    (job.final / "manifest.json").write_text("{")
    assert main(["--root", str(job.root), "verify", "--scenario", "cut", "--variant", "plain,better"]) == Exit.BAD_INPUT
    errors = capsys.readouterr().err
    assert f"{PLACE}: its manifest.json is damaged" in errors
    assert f"{PLACE.replace('plain', 'better')}: is not sealed, so there is nothing to compare with" in errors


def changes(job: Job, **now: object) -> list[str]:
    """What is said to have changed when the job has other values."""
    return outdated_inputs(replace(job, **now), json.loads((job.final / "manifest.json").read_text()), job.final)


def test_nothing_changed(job):
    assert changes(job) == []


def test_changed_products_are_named_with_what_they_were_made_from(job):
    kernel = {**KERNEL, "patches": [{"file": "kernels/patches/0002.patch", "sha256": "6" * 64}]}
    lab = {"packages": {"d-itg": "2.9", "tcpdump": "4.99", "zlib": "1"}}
    inputs = inputs_of(job.trial, kernel="9" * 64, lab={"packages": "9" * 64, "recipe": "8" * 64})
    assert changes(job, kernel_record={**KERNEL, **kernel}, lab_record=lab, inputs=inputs) == [
        f"kernel.binary: {'1' * 24}… when it was sealed, {'9' * 24}… now",
        f"kernel.patches.kernels/patches/0001.patch: {'5' * 24}… when it was sealed, none now",
        f"kernel.patches.kernels/patches/0002.patch: none when it was sealed, {'6' * 24}… now",
        f"lab root.packages: {'2' * 24}… when it was sealed, {'9' * 24}… now",
        "lab root.package.d-itg: 2.8 when it was sealed, 2.9 now",
        "lab root.package.zlib: none when it was sealed, 1 now",
    ]


def test_changed_orders_are_named_by_their_place_and_not_all_of_many(job):
    plan = json.loads((job.final / "logs/plan.json").read_text())
    plan["events"][0]["path"] = "satellite"
    plan["bursts"] = [[start_ms + 1, size] for start_ms, size in plan["bursts"]]
    del plan["packet_bytes"]
    (job.final / "logs/plan.json").write_text(json.dumps(plan))
    lines = changes(job)
    assert len(lines) == 6
    assert lines[0] == "plan.bursts.0.0: 101.0 when it was sealed, 100.0 now"
    assert lines[-1].startswith("plan: and ")
    plan["bursts"] = json.loads(orders(job.trial, RELEASE)[PLAN])["bursts"]
    (job.final / "logs/plan.json").write_text(json.dumps(plan))
    assert changes(job) == [
        "plan.events.0.path: satellite when it was sealed, near now",
        "plan.packet_bytes: none when it was sealed, 1400 now",
    ]


def test_without_the_sealed_plan_the_rest_is_told(job):
    shutil.rmtree(job.final / "logs")
    lines = changes(job, inputs=inputs_of(job.trial, boot=["sh"]))
    assert lines[0].startswith("boot.0: unshare when it was sealed, sh now")
    assert lines[-1].startswith("plan: none when it was sealed")
