# SPDX-License-Identifier: Apache-2.0
"""What runs inside the guest: the standard library and Mininet only, started as the guest's init program.

The host side never imports this package; the two sides share data alone (`plan.json` in, raw files out).
"""
