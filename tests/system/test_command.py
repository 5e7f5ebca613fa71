# SPDX-License-Identifier: Apache-2.0
"""The command from typing to table: results, repetition, resuming."""

import json

from sealed_again import reseal

from pathwarp.results.manifest import file_hashes

RUN = ("run", "--scenario", "silent", "--traffic", "single", "--runs", "1")


def test_make_runs_seals_and_prints_the_table(project):
    done = project.make("scenario=silent", "variant=tlp-mp", "traffic=single", "runs=2")
    assert done.returncode == 0, done.stderr
    assert len(project.sealed()) == 4
    table = done.stdout.partition("variant  traffic")[2].splitlines()
    assert [line.split()[:3] for line in table[1:3]] == [["tlp-std", "single", "2"], ["tlp-mp", "single", "2"]]
    # On this network, PTO = RTO = 213 ms, and the two differ by an RTO on the timer wheel.
    assert "-216.0" in table[2]
    assert "results: results/silent" in done.stdout
    again = project.make("scenario=silent", "variant=tlp-std,tlp-mp", "traffic=single", "runs=2")
    assert again.returncode == 0
    assert "4 of 4 trials are sealed already" in again.stdout
    assert again.stdout.partition("variant  traffic")[2] == done.stdout.partition("variant  traffic")[2]


def test_a_sealed_folder_says_what_it_was_made_from(project):
    assert project.call(*RUN, "--variant", "tlp-mp")[0] == 0
    folder, baseline = project.sealed()
    assert "tlp-std" in str(baseline)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["files"] == file_hashes(folder)
    assert manifest["kernel"]["release"].endswith("-pathwarp-tlp-mp")
    assert [patch["file"] for patch in manifest["kernel"]["patches"]][-1].startswith("kernels/variants/tlp-mp/")
    assert manifest["lab"]["packages"]["d-itg"].startswith("2.8.1")
    assert manifest["sysctls"]["server"]["net.mptcp.scheduler"] == "minrtt"
    assert any("netem" in line and "delay 6ms" in line for line in manifest["qdiscs"]["access"])
    assert {path.name for path in (folder / "captures").iterdir()} == {
        f"{host}-{path}.pcap" for host in ("server", "client") for path in ("wlan", "4g")
    }


def test_the_same_trial_twice_is_the_same_to_the_byte(project):
    assert project.call(*RUN, "--variant", "tlp-mp")[0] == 0
    folders = project.sealed()
    assert [folder.parts[-3] for folder in folders] == ["tlp-mp", "tlp-std"]
    first = {folder: file_hashes(folder) for folder in folders}
    # Moved away, so that what is compared is what the second run sealed.
    (project.root / "results").rename(project.root / "before")
    assert project.call(*RUN, "--variant", "tlp-mp", "--jobs", "1")[0] == 0
    assert project.sealed() == folders
    assert {folder: file_hashes(folder) for folder in project.sealed()} == first


def test_force_runs_what_is_sealed_and_compares_with_it(project):
    chosen = (*RUN, "--variant", "tlp-std")
    assert project.call(*chosen)[0] == 0
    (folder,) = project.sealed()
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    digest = json.loads(before[folder / "manifest.json"])["files_sha256"]
    status, output, errors = project.call(*chosen, "--force")
    assert status == 0, output + errors
    assert f"equal to the byte, 16 files, SHA-256 over all {digest}" in output
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    # Sealed with another outcome, the same trial comes out different.
    (folder / "logs" / "sizes.txt").write_text("1\n")
    reseal(folder)
    status, output, _ = project.call(*chosen, "--force")
    assert status == 1
    assert "DIFFERENT\n    1 of 16 files: logs/sizes.txt\n" in output
    assert (folder / "logs" / "sizes.txt").read_text() == "1\n"
    kept = project.root / "results" / ".differs" / folder.relative_to(project.root / "results")
    assert (kept / "logs" / "sizes.txt").read_bytes() == before[folder / "logs" / "sizes.txt"]


def test_a_change_in_measuring_runs_no_trial(project):
    chosen = (*RUN, "--variant", "tlp-std")
    assert project.call(*chosen)[0] == 0
    (folder,) = project.sealed()
    sealed = (folder / "manifest.json").read_bytes()
    with (project.own("pathwarp") / "measure" / "delays.py").open("a") as module:
        module.write("# another end\n")
    # Make starts the engine beside its own launcher.
    project.own("bin")
    checked = project.make("check-results")
    assert checked.returncode == 0, checked.stdout
    assert "1 of these are of other measuring code" in checked.stdout
    table = project.make("table", "scenario=silent", "traffic=single")
    assert table.returncode == 0, table.stderr
    assert table.stderr == "pathwarp: 1 trial measured again: the measuring code changed\n"
    assert "sealed already" in project.make("scenario=silent", "traffic=single", "variant=tlp-std", "runs=1").stdout
    assert "other measuring code" not in project.make("check-results").stdout
    assert project.make("measure").stdout == "0 of 1 measured, 1 were up to date\n"
    assert (folder / "manifest.json").read_bytes() == sealed


def test_another_seed_is_another_trial(project):
    assert project.call(*RUN, "--variant", "tlp-std", "--runs", "2")[0] == 0
    one, two = (file_hashes(folder) for folder in project.sealed())
    captures = [name for name in one if name.startswith("captures/")]
    assert len(captures) == 4
    assert all(one[name] != two[name] for name in captures)


def test_figures_are_drawn_from_sealed_trials(project):
    assert project.call(*RUN)[0] == 0
    status, output, _ = project.call("figures", "--scenario", "silent", "--traffic", "single")
    assert status == 0
    names = {line.rpartition("/")[2] for line in output.splitlines()}
    assert {"bars-single.svg", "bars-single.png", "timing-single-tlp-mp.svg"} <= names


def test_options_have_results_of_their_own(project):
    for fail in ("interface-down", "address-removed"):
        assert project.call(*RUN, "--variant", "tlp-std", "--set", f"events.0.fail={fail}")[0] == 0
    assert [folder.parts[-4] for folder in project.sealed()] == [
        "silent+events.0.fail=address-removed",
        "silent+events.0.fail=interface-down",
    ]
