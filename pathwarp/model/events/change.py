# SPDX-License-Identifier: Apache-2.0
"""`change`: the path's shape has new values for some attributes until it ends."""

from pathwarp.model.events.kind import EventKind, reshape

KIND = EventKind("change", begin=reshape("begin"), end=reshape("end"), is_failure=False)
