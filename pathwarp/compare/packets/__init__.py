# SPDX-License-Identifier: Apache-2.0
"""Two trials packet by packet: where they part, in words and as timing diagrams."""
