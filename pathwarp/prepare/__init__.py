# SPDX-License-Identifier: Apache-2.0
"""Kernels and the lab root: what of them is up to date, and how they are made."""
