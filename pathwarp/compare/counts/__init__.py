# SPDX-License-Identifier: Apache-2.0
"""Reinjections counted three times over: from the captures by this program and by tshark, and by the kernel."""
