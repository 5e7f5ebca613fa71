# SPDX-License-Identifier: Apache-2.0
"""Who sent what again: the data's connection, its packets, and what each byte of them is."""
