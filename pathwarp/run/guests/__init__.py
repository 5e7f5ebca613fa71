# SPDX-License-Identifier: Apache-2.0
"""Where guests run. A backend is how a guest boots and how files get in and out."""
