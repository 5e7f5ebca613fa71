# SPDX-License-Identifier: Apache-2.0
"""Segmentation and checksum offload of an interface, by ioctl: no process to start (ethtool(8) -K, linux/ethtool.h)."""

import ctypes
import fcntl
import socket
import struct

_SIOCETHTOOL = 0x8946
_SET = {"rx": 0x15, "tx": 0x17, "tso": 0x1F, "gso": 0x24, "gro": 0x2C}
_GET = {"rx": 0x14, "tx": 0x16, "tso": 0x1E, "gso": 0x23, "gro": 0x2B}


def _ask(handle: socket.socket, interface: str, command: int, value: int = 0) -> int:
    answer = ctypes.create_string_buffer(struct.pack("=II", command, value))
    request = struct.pack("@16sP16x", interface.encode(), ctypes.addressof(answer))
    fcntl.ioctl(handle, _SIOCETHTOOL, request)
    return struct.unpack_from("=I", answer, 4)[0]


def switch_off(interface: str) -> None:
    """Turn all offloads of an interface of the caller's namespace off; RuntimeError for one that stays on."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        for command in _SET.values():
            _ask(handle, interface, command)
        left = [name for name, command in _GET.items() if _ask(handle, interface, command)]
    if left:
        raise RuntimeError(f"{interface}: {', '.join(left)} can't be turned off")
