# SPDX-License-Identifier: Apache-2.0
"""What a test's output says of its cases."""

import json

import pytest

from pathwarp.measure.cases import Case, Line, Run, State, read_cases, read_run

TAP = """\
01 balanced bwidth                                               max 8 [ OK ]

TAP version 13
1..4
ok 1 - simult_flows: balanced bwidth # time=7435ms
not ok 2 - simult_flows: unbalanced bwidth # time=11921ms
ok 3 - simult_flows: reverse # SKIP time=3ms
ok 4 - simult_flows: slow # IGNORE Flaky time=20ms
""".splitlines()


def cases(*lines, status=0):
    return read_cases("simult_flows", tuple(lines), status)


def test_each_case_with_its_state_and_time():
    assert cases(*TAP, status=1) == (
        Case(1, "balanced bwidth", State.PASSED, 7435),
        Case(2, "unbalanced bwidth", State.FAILED, 11921),
        Case(3, "reverse", State.SKIPPED, 3),
        Case(4, "slow", State.FAILED, 20, "IGNORE Flaky", known=True),
    )


@pytest.mark.parametrize(
    ("status", "state", "note"),
    [
        (0, State.PASSED, ""),
        (4, State.SKIPPED, "no tool"),
        (1, State.FAILED, "no tool"),
        (124, State.FAILED, "took too long"),
    ],
)
def test_a_test_that_tells_no_cases_is_one(status, state, note):
    assert cases("begin", "no tool", "", status=status) == (Case(1, "simult_flows", state, note=note, told=False),)


def test_an_end_that_no_case_explains_is_a_case_more():
    assert cases(*TAP[:5], "syntax error", status=2)[1:] == (
        Case(2, "simult_flows to its end", State.FAILED, note="syntax error", told=False),
    )
    assert len(cases(*TAP[:5], status=0)) == 1


def test_a_run_folder(tmp_path):
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "guest.json").write_text(json.dumps({"begin_ns": 5, "exit": 1, "took_s": 12.5}))
    (logs / "output.txt").write_text("".join(f"{i}.000000001 {line}\n" for i, line in enumerate(TAP)))
    run = read_run(tmp_path, "simult_flows", "mainline", 8, 1.5)
    assert [line.text for line in run.output] == TAP
    assert run.output[3].at_s == 3.000000001
    assert [case.state.name for case in run.cases] == ["PASSED", "FAILED", "SKIPPED", "FAILED"]
    assert (run.seed, run.took_s, run.wall_s) == (8, 12.5, 1.5)


def test_when_a_case_was(tmp_path):
    output = tuple(Line(at_s, text) for at_s, text in zip((7.5, 19.4, 19.5, 19.5), ("x", "", *TAP[2:4]), strict=True))
    run = Run("simult_flows", "mainline", 8, 5, cases(*TAP, status=1), 19.5, 1.0, output)
    assert run.window(4) == pytest.approx((19.479, 19.5))
    assert run.window(2) == pytest.approx((19.5 - 0.023 - 11.921 - 0.003, 19.5 - 0.023))
    assert run.window(1) == pytest.approx((0.117, 7.556))
    assert run.window(5) is None
    assert Run("x", "mainline", 1, 5, cases("x"), 1.0, 1.0, output).window(1) is None
