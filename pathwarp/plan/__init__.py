# SPDX-License-Identifier: Apache-2.0
"""From data files to trials: what happens when, which orders the guest gets, and the id over all of it."""
