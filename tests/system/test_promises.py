# SPDX-License-Identifier: Apache-2.0
"""A trial repeats to the byte, whatever is different about the host; what doesn't is named."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from sealed_again import reseal

from pathwarp.results.manifest import file_hashes
from pathwarp.run.guests.processes import dying_with_caller

ROOT = Path(__file__).resolve().parents[2]
VERIFY = ("verify", "--scenario", "flooded", "--variant", "tlp-mp")
CIRCUMSTANCES = {
    "another CPU": ("taskset", "--cpu-list", str(max(os.sched_getaffinity(0)))),
    "another user": ("unshare", "--user", "--map-user=1234", "--map-group=1234"),
    "another environment": ("env", "-i", f"PATH={os.environ['PATH']}", "TZ=Asia/Tokyo", "HOME=/nowhere", "LANG=C"),
    "other limits": ("sh", "-c", 'ulimit -s unlimited; ulimit -n 256; umask 077; exec "$@"', "sh"),
    "another layout of addresses": ("setarch", "--addr-compat-layout"),
}


def equal(output: str) -> list[str]:
    """The SHA-256 of each trial that was found equal."""
    return [line.rpartition(" ")[2] for line in output.splitlines() if "equal to the byte, 16 files" in line]


def sealed_hash(project, variant: str) -> str:
    folder = project.root / "results" / "flooded" / variant / "flood" / "seed-001"
    return json.loads((folder / "manifest.json").read_text())["files_sha256"]


def own_lab(project) -> Path:
    """Give a project a lab root of its own, and return it."""
    build = project.root / "build"
    build.unlink()
    build.mkdir()
    for name in ("kernels", "base", "downloads"):
        if (ROOT / "build" / name).exists():
            (build / name).symlink_to(ROOT / "build" / name)
    return shutil.copytree(ROOT / "build" / "lab", build / "lab", symlinks=True)


@pytest.mark.parametrize("circumstance", CIRCUMSTANCES)
def test_a_saturated_trial_repeats(flooded, circumstance):
    status, output, errors = flooded.call(*VERIFY, under=CIRCUMSTANCES[circumstance])
    assert status == 0, output + errors
    assert equal(output) == [sealed_hash(flooded, "tlp-mp")]


def test_every_variant_repeats_beside_other_guests(flooded):
    status, output, errors = flooded.call("verify", "--scenario", "flooded", "--variant", "all")
    assert status == 0, output + errors
    variants = [path.name for path in sorted((ROOT / "kernels" / "variants").iterdir())]
    assert sorted(equal(output)) == sorted(sealed_hash(flooded, variant) for variant in variants)


def test_a_trial_repeats_on_a_busy_host(flooded):
    with ExitStack() as stack:
        for _ in range(2 * len(os.sched_getaffinity(0))):
            busy = subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=dying_with_caller())
            stack.callback(busy.wait)
            stack.callback(busy.kill)
        status, output, errors = flooded.call(*VERIFY, "--times", "3")
    assert status == 0, output + errors
    assert set(equal(output)) == {sealed_hash(flooded, "tlp-mp")}
    assert "3 of 3 trials verified" in output


def test_a_trial_repeats_in_another_folder(flooded, tmp_path, make_project):
    moved = type(flooded)(make_project(tmp_path / ("a-long-name" * 10) / "with blanks and ünïcode"))
    shutil.copytree(flooded.root / "results" / "flooded", moved.root / "results" / "flooded")
    own_lab(moved)
    status, output, errors = moved.call(*VERIFY)
    assert status == 0, output + errors
    assert equal(output) == [sealed_hash(flooded, "tlp-mp")]


def test_when_the_host_last_read_the_lab_root_does_not_count(tmp_path, make_project, project):
    # A guest that noted when it read a file (relatime) would do so only where the host had not since the file changed.
    # What it noted it would write back, which wakes it: 105 s into this trial, once.
    papers = type(project)(make_project(tmp_path / "papers", ROOT))
    lab = own_lab(papers)
    chosen = ("--scenario", "path-failure", "--traffic", "netflix", "--variant", "rej-k2", "--runs", "1")
    for verb, date in (("run", "1980-01-01"), ("verify", "2030-01-01")):
        subprocess.run(["find", lab, "-exec", "touch", "-h", "-a", "-d", date, "{}", "+"], check=True)
        status, output, errors = papers.call(verb, *chosen)
        assert status == 0, output + errors
    assert len(equal(output)) == 1


def test_the_papers_traffic_repeats(tmp_path, make_project, project):
    papers = type(project)(make_project(tmp_path / "papers", ROOT))
    chosen = ("--scenario", "path-failure", "--traffic", "docs,maps,netflix", "--variant", "tlp-std", "--runs", "1")
    assert papers.call("run", *chosen, "--set", "duration=90 s")[0] == 0
    status, output, errors = papers.call("verify", *chosen, "--set", "duration=90 s")
    assert status == 0, output + errors
    assert len(set(equal(output))) == 3


def test_a_packet_that_differs_is_shown(project):
    chosen = ("--scenario", "silent", "--traffic", "single", "--variant", "tlp-std", "--runs", "1")
    assert project.call("run", *chosen)[0] == 0
    (folder,) = project.sealed()
    capture = folder / "captures" / "server-wlan.pcap"
    content = bytearray(capture.read_bytes())
    content[-1] ^= 1
    capture.write_bytes(content)
    status, output, _ = project.call("verify", *chosen)
    assert status == 1
    assert "damaged since they were sealed, says the manifest: captures/server-wlan.pcap" in output
    assert "the repeated trial is what the manifest says" in output
    reseal(folder)
    before = file_hashes(folder)
    status, output, _ = project.call("verify", *chosen)
    assert status == 1
    assert "1 of 16 files: captures/server-wlan.pcap" in output
    assert "s after the start of the flow" in output
    assert "sealed: 10.1." in output and "now:    10.1." in output
    assert "0 of 1 trial verified" in output
    assert file_hashes(folder) == before
    assert (project.root / "results/.differs/silent/tlp-std/single/seed-001/captures").is_dir()
    assert project.unsealed() == []


def test_a_changed_input_is_named(project):
    chosen = ("--scenario", "silent", "--traffic", "single", "--variant", "tlp-std", "--runs", "1")
    status, _, errors = project.call("verify", *chosen)
    assert status == 2
    assert "is not sealed" in errors
    assert project.call("run", *chosen)[0] == 0
    code = project.root / "pathwarp"
    code.unlink()
    shutil.copytree(ROOT / "pathwarp", code)
    with (code / "guest" / "events.py").open("a") as module:
        module.write("# another end\n")
    status, output, _ = project.call("verify", *chosen)
    assert status == 1
    assert "can't be verified, its inputs changed:\n    guest code.pathwarp/guest/events.py: " in output
    assert "0 of 1 trial verified" in output


def test_damage_is_found(project):
    chosen = ("--scenario", "silent", "--traffic", "single", "--variant", "tlp-std", "--runs", "1")
    assert project.call("run", *chosen)[0] == 0
    assert project.make("check-results").stdout.startswith("1 of 1 sealed trials are as they were sealed")
    (folder,) = project.sealed()
    (folder / "logs" / "plan.json").unlink()
    (folder / "metrics.json").write_text("{}")
    manifest = (folder / "manifest.json").read_bytes()
    checked = project.make("check-results", "scenario=silent")
    assert checked.returncode == 1
    assert "logs/plan.json: missing" in checked.stdout
    assert "metrics.json: says no format" in checked.stdout
    assert "0 of 1 sealed trials are as they were sealed" in checked.stdout
    assert "0 of 1 have metrics that are as they were made" in checked.stdout
    # Metrics can be made again, and raw files not.
    measured = project.make("measure", "scenario=silent")
    assert measured.returncode == 1
    assert "logs/plan.json: missing since it was sealed" in measured.stderr
    assert (folder / "metrics.json").read_text() == "{}"
    forced = project.make("scenario=silent", "variant=tlp-std", "traffic=single", "runs=1", "force=1")
    assert forced.returncode == 0, forced.stdout + forced.stderr
    assert "sealed anew: damaged since it was sealed: logs/plan.json" in forced.stdout
    assert project.make("check-results", "scenario=silent").returncode == 0
    assert json.loads((folder / "manifest.json").read_bytes())["files"] == json.loads(manifest)["files"]


def test_the_first_difference_of_the_probing_variants_is_the_probe_on_the_other_subflow(project):
    chosen = ("--scenario", "silent", "--traffic", "single", "--variant", "tlp-std,tlp-mp", "--runs", "1")
    assert project.call("run", *chosen)[0] == 0
    results = project.root / "results" / "silent"
    folders = {"a": results / "tlp-std/single/seed-001", "b": results / "tlp-mp/single/seed-001"}
    compared = project.make("diff", *(f"{name}={folder}" for name, folder in folders.items()))
    assert compared.returncode == 0, compared.stderr
    _, _, first = compared.stdout.partition("First difference")
    told = first.splitlines()
    assert told[1].startswith("  tlp-mp: server sends on 4G, subflow 2: probe, 400 B, DSN 2000 to 2399, seq 1")
    assert told[2].startswith(
        "  tlp-std: no such packet at that instant; it has it 216.000000 ms later, as: reinjection"
    )
    assert "probe on 4G" in (results / "figures" / "diff-single-001-tlp-std-tlp-mp.svg").read_text()
