# SPDX-License-Identifier: Apache-2.0
"""Running trials: workers on CPUs of their own, and the ways to run a guest."""
