# SPDX-License-Identifier: Apache-2.0
"""Files of sealed trials, kernels and records that are damaged: said clearly, and never taken for whole."""

import shutil

import pytest
from damage import DAMAGES, restore
from project_folder import Project
from undisturbed import RUN, assert_no_traceback, hashes

from pathwarp.cli import main
from pathwarp.model.catalogue import Catalogue
from pathwarp.model.load import load_variant
from pathwarp.prepare import lab
from pathwarp.prepare.kernel import find_kernel

SHOWN = ("--scenario", "silent", "--traffic", "single", "--variant", "tlp-std,tlp-mp")
DRAWN = ("missing", "half", "a bit flipped")
FILES = (
    *("manifest.json", "metrics.json", "captures/server-wlan.pcap", "captures/client-4g.pcap", "logs/plan.json"),
    *("logs/guest.json", "logs/ditg-receiver.txt", "logs/counters-after.json", "logs/console.txt"),
)


@pytest.fixture(scope="module")
def sealed(tmp_path_factory, make_project, undisturbed) -> Project:
    """A project of its own with sealed trials, for each test to damage and to mend."""
    project = Project(make_project(tmp_path_factory.mktemp("damaged")))
    shutil.copytree(undisturbed.project.root / "results", project.root / "results", symlinks=True)
    return project


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_named_and_nothing_is_drawn_from_it(sealed, undisturbed, capsys, name):
    place = f"results/silent/tlp-mp/single/seed-001/{name}"
    file = sealed.root / place
    folder = str(sealed.root / place.removesuffix(f"/{name}"))
    other = str(sealed.root / "results/silent/tlp-std/single/seed-001")
    root = ("--root", str(sealed.root))
    for damage, do in DAMAGES.items():
        do(file)
        try:
            checked = main([*root, "check-results"])
            said = capsys.readouterr().out
            if (name, damage) == ("metrics.json", "missing"):
                assert checked == 0 and "1 have no metrics yet" in said
            else:
                assert checked == 1, damage
                assert f"seed-001/{name}" in said, damage
            status = main([*root, "table", *SHOWN])
            printed = capsys.readouterr()
            if (name, damage) == ("metrics.json", "missing"):
                assert (status, printed.err) == (0, "pathwarp: 1 trial measured: sealed without metrics\n")
            elif name in ("manifest.json", "metrics.json"):
                assert status == 1, damage
                assert "seed-001" in printed.err and "again" in printed.err, damage
                assert "tlp-std" in printed.out, "the others are shown"
            else:
                assert status == 0, damage
            commands = [("diff", "--a", folder, "--b", other)]
            # Drawing takes a second each time.
            commands += [("figures", *SHOWN)] if damage in DRAWN else []
            for command in commands:
                status = main([*root, *command])
                printed = capsys.readouterr()
                assert status in (0, 1, 2), damage
                assert (status == 0) == (not printed.err), f"{damage}: {printed.err}"
                assert_no_traceback(printed.out, printed.err)
        finally:
            restore(file, undisturbed.project.root / place)
    assert main([*root, "check-results"]) == 0


@pytest.mark.parametrize("damage", ["half", "missing", "nested deep"])
def test_a_trial_whose_manifest_is_damaged_is_run_again(sealed, undisturbed, damage):
    file = sealed.root / "results/silent/tlp-mp/single/seed-001/manifest.json"
    DAMAGES[damage](file)
    status, output, errors = sealed.call(*RUN)
    assert status == 0, output + errors
    assert "3 of 4 trials are sealed already" in output
    assert hashes(sealed) == undisturbed.trials
    kept = sealed.root / "results/.replaced/silent/tlp-mp/single/seed-001-unknown"
    assert (kept / "metrics.json").is_file()
    shutil.rmtree(kept)


def test_damaged_records_of_kernels_and_lab_count_as_none(project):
    build = project.root / "build"
    source = build.resolve()
    build.unlink()
    shutil.copytree(source / "kernels" / "tlp-mp", build / "kernels" / "tlp-mp")
    (build / "lab").mkdir()
    shutil.copy2(source / "lab" / "lab.json", build / "lab" / "lab.json")
    tlp_mp = find_kernel(project.root, load_variant(Catalogue(project.root), "tlp-mp"))
    assert tlp_mp.record
    assert lab.read_lab(project.root)
    for damage in ("missing", "empty", "half", "zeros", "a list", "nested deep", "no UTF-8"):
        for record in ("kernels/tlp-mp/uml/build.json", "lab/lab.json"):
            DAMAGES[damage](build / record)
            assert not tlp_mp.record or "lab" in record
            assert not lab.read_lab(project.root) or "kernels" in record
            restore(build / record, source / record)


def test_a_damaged_kernel_is_not_booted(project):
    build = project.root / "build"
    source = build.resolve()
    build.unlink()
    build.mkdir()
    for name in ("lab", "base", "downloads"):
        if (source / name).exists():
            (build / name).symlink_to(source / name)
    shutil.copytree(source / "kernels", build / "kernels")
    for damage in ("half", "a bit flipped", "missing"):
        file = build / "kernels/tlp-mp/uml/linux"
        DAMAGES[damage](file)
        status, output, errors = project.call(*RUN)
        assert (status, output) == (1, "")
        assert "build/kernels/tlp-mp/uml/linux: " in errors
        assert "remove its folder and run `make kernels`" in errors
        restore(file, source / "kernels/tlp-mp/uml/linux")
    assert project.sealed() == []
