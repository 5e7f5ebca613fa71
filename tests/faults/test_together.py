# SPDX-License-Identifier: Apache-2.0
"""Several invocations on one results folder at a time."""

from undisturbed import RUN, assert_no_traceback, assert_nobody_left, assert_nothing_half_made, hashes, table_of


def test_runs_of_the_same_trials_do_not_harm_each_other(project, undisturbed):
    processes = [project.start(*RUN) for _ in range(4)]
    for process in processes:
        output, errors = process.communicate()
        assert process.returncode == 0, output + errors
        assert table_of(output) == undisturbed.table
        assert_no_traceback(output, errors)
    assert hashes(project) == undisturbed.trials
    assert_nothing_half_made(project, undisturbed.trials)
    assert project.unsealed() == []
    assert_nobody_left(project.root)


def test_what_another_run_sealed_is_recognised(project, undisturbed):
    """Half of the seeds are run by somebody else who is ahead."""
    ahead = project.start(*RUN)
    status, output, errors = project.call(*RUN, "--runs", "1")
    assert status == 0, output + errors
    ahead.communicate()
    assert ahead.returncode == 0
    assert hashes(project) == undisturbed.trials
