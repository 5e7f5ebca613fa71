# SPDX-License-Identifier: Apache-2.0
"""From the raw files of a run folder to its metrics: columns of numbers, no object per packet."""
