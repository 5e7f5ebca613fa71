# SPDX-License-Identifier: Apache-2.0
"""A Multipath TCP testbed in virtual time: real kernels, emulated paths, scheduled failures, replayed traffic."""
