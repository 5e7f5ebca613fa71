# SPDX-License-Identifier: Apache-2.0
"""Making traces of the link between a moving vehicle and a radio cell."""
