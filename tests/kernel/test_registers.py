# SPDX-License-Identifier: Apache-2.0
"""The kernel leaves floating-point registers in the host: no program may see another's, or lose its own."""

ROUNDS = "100"


def test_no_register_is_lost(boot):
    assert "\nok, " in boot("registers", ROUNDS, "/registers")
