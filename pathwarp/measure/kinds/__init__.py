# SPDX-License-Identifier: Apache-2.0
"""The kinds of packet, a file each: which packets they are, and their words and colour wherever they are told."""
