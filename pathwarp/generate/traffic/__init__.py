# SPDX-License-Identifier: Apache-2.0
"""Application traffic: traces of bursts, how they are generated, recorded and handed to D-ITG."""
