# SPDX-License-Identifier: Apache-2.0
"""The data files: which there are, what each says, and what must hold across them."""
