# SPDX-License-Identifier: Apache-2.0
"""When a variant's timers fire, and what that comes to for a burst that lost its end: predicted, not measured."""
