# SPDX-License-Identifier: Apache-2.0
"""What can happen to a path, a file for each kind with all its facts: `registry` finds them."""
