# SPDX-License-Identifier: Apache-2.0
"""Data files that are made once and committed: traces of traffic and of moving links."""
