# SPDX-License-Identifier: Apache-2.0
"""How the kernel's own tests ended, in words and for other programs."""

from xml.etree import ElementTree

from pathwarp.measure.cases import Case, Run, State
from pathwarp.present.selftests import JUNIT, TAP, render, write_files

SKIPPED = Case(3, "with iptables", State.SKIPPED, note="iptables is missing")


def run(seed, *failed, variant="mainline", known=()):
    cases = [
        Case(n, name, State.FAILED if name in failed else State.PASSED, 10 * n, known=name in known)
        for n, name in enumerate(("first", "second"), 1)
    ]
    return Run("join", variant, seed, 0, (*cases, SKIPPED), 12.25, 3.04, ())


def lines(runs):
    return render(runs, "results/selftests").splitlines()


def test_a_row_per_test_and_variant():
    found = lines([run(1), run(2, "second"), run(1, variant="better")])
    assert found[2:5] == [
        "test  variant   runs  cases  passed  failed  skipped  guest's clock, s  host's clock, s",
        "join  mainline     2      6       3       1        2            12.250              3.0",
        "join  better       1      3       2       0        1            12.250              3.0",
    ]
    assert found[-1] == "results: results/selftests"


def test_a_case_that_fails_for_some_seeds_is_sensitive():
    found = lines([run(seed, *(["second"] if seed in (3, 8) else [])) for seed in range(1, 21)])
    assert "mainline: join: second: sensitive, 2 of 20 seeds, 10.0 % (1.2 to 31.7): seeds 3, 8" in found


def test_a_case_that_always_fails():
    assert "mainline: join: first: fails, 3 of 3 seeds" in lines([run(seed, "first") for seed in (1, 2, 3)])


def test_a_variant_is_held_against_the_unpatched_kernel():
    runs = [run(seed) for seed in range(1, 6)] + [run(seed, "first", variant="better") for seed in range(1, 6)]
    assert "better: join: first: fails, 5 of 5 seeds; mainline 0 of 5, p = 0.004" in lines(runs)


def test_what_is_known_to_be_flaky_is_said():
    (line,) = [line for line in lines([run(1, "first", known=("first",))]) if "first" in line]
    assert line == "mainline: join: first: fails, 1 of 1 seeds; the kernel's developers have marked it as flaky"


def test_skips_with_their_reasons():
    assert "skipped: join: with iptables: iptables is missing" in lines([run(1), run(2)])


def test_files_for_other_programs(tmp_path):
    write_files([run(1), run(8, "second")], tmp_path)
    assert (tmp_path / TAP).read_text().splitlines()[:5] == [
        "TAP version 13",
        "1..6",
        "ok 1 - mainline: join seed 1: first",
        "ok 2 - mainline: join seed 1: second",
        "ok 3 - mainline: join seed 1: with iptables # SKIP iptables is missing",
    ]
    assert "not ok 5 - mainline: join seed 8: second" in (tmp_path / TAP).read_text()
    suites = ElementTree.parse(tmp_path / JUNIT).getroot()
    assert [(suite.get("name"), suite.get("failures"), suite.get("skipped")) for suite in suites] == [
        ("mainline: join seed 1", "0", "1"),
        ("mainline: join seed 8", "1", "1"),
    ]
