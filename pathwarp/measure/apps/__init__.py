# SPDX-License-Identifier: Apache-2.0
"""What applications log of their traffic."""
