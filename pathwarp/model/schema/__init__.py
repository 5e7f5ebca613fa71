# SPDX-License-Identifier: Apache-2.0
"""Models of the data files, one module per kind; what concerns several files is checked in `pathwarp.model.load`."""
