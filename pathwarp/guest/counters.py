# SPDX-License-Identifier: Apache-2.0
"""The kernel's MIB counters, per host."""

from pathlib import Path

from network import Network

_FILES = ("netstat", "snmp")
_GROUPS = ("Tcp", "TcpExt", "MPTcpExt", "Ip")


def _parse(text: str) -> dict[str, dict[str, int]]:
    lines = text.splitlines()
    groups = {}
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        group, _, rest = names.partition(":")
        if group in _GROUPS:
            groups[group] = dict(zip(rest.split(), map(int, values.split()[1:]), strict=True))
    return groups


def read(network: Network) -> dict[str, dict[str, dict[str, int]]]:
    """host -> group (Tcp, TcpExt, MPTcpExt, Ip) -> counter -> value."""
    return {
        host: {
            group: values
            for file in _FILES
            for group, values in _parse(Path(f"/proc/{node.pid}/net/{file}").read_text()).items()
        }
        for host, node in network.hosts.items()
    }
