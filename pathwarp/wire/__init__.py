# SPDX-License-Identifier: Apache-2.0
"""Packets as columns of numbers: capture files, IPv4, TCP and MPTCP; no object per packet."""
