# SPDX-License-Identifier: Apache-2.0
"""Applications, a module for each: its Application listens, says that it does, starts to send, and stops."""
