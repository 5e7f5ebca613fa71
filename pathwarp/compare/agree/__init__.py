# SPDX-License-Identifier: Apache-2.0
"""The same trials in virtual time, in real time and in virtual machines: how far they differ."""
