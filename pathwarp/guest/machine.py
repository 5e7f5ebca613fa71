# SPDX-License-Identifier: Apache-2.0
"""A trial in a virtual machine that has booted: in namespaces of its own, which end with it."""

from trial import conduct

conduct(lambda: None)
