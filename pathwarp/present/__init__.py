# SPDX-License-Identifier: Apache-2.0
"""What the trials say: the metrics of many run folders as a table and as figures."""
