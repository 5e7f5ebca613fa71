# SPDX-License-Identifier: Apache-2.0
"""What no event of a scenario makes: the path follows a trace, whose shape changes."""

from pathwarp.model.events.kind import EventKind, reshape

KIND = EventKind("trace", begin=reshape("begin"), end=reshape("end"), is_failure=False)
