# SPDX-License-Identifier: Apache-2.0
"""Programs read the time-travel clock from a page that they can write to: the kernel may not believe them."""


def test_time_goes_on_whatever_a_program_writes(boot):
    assert "\nok\n" in boot("clock")
