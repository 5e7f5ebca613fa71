# SPDX-License-Identifier: Apache-2.0
"""Run folders: sealing, their manifests, whether they are as they were sealed, and reading many of them."""
