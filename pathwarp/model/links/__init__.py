# SPDX-License-Identifier: Apache-2.0
"""Links that follow a trace: reading the formats, and what a link does when."""
