# SPDX-License-Identifier: Apache-2.0
"""Two trials or many held against each other: byte by byte, packet by packet, count by count."""
