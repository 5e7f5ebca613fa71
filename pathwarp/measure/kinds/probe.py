# SPDX-License-Identifier: Apache-2.0
"""A tail loss probe (RFC 8985, section 7), and its copy on another subflow where the kernel sends one."""

from pathwarp.measure.kinds.kind import Labels, PacketKind
from pathwarp.measure.probes import are_probes

KIND = PacketKind(
    key="probe",
    legend="probe",
    noun="probe",
    colour="#0072B2",
    drawn=20,
    asked=10,
    claims=are_probes,
    labels=Labels("probe", "probe loss", "{n} probes", "{n} probes lost"),
    names_path=True,
)
