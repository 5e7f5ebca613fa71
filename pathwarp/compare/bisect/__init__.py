# SPDX-License-Identifier: Apache-2.0
"""Which commit of a kernel's history changed what a test or a scenario shows."""
