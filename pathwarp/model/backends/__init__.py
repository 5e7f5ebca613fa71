# SPDX-License-Identifier: Apache-2.0
"""The ways to run a guest, a file for each with all that others need to know of it: `registry` finds them."""
