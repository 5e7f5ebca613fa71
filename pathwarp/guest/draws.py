# SPDX-License-Identifier: Apache-2.0
"""Jitter: what each packet's delay is drawn from, and giving that to the link's netem by rtnetlink(7).

`tc` knows neither netem's seed nor tables other than its own files. Only trials with jitter import this module, and
what it imports draws random numbers: the others' stay as they are.
"""

import errno
import os
import socket
import struct
from collections import Counter

import kernel
import shaping
from namespaces import inside

# A packet that must not overtake waits for the one before; a rate at which it takes 0 ns, up to 12 kB, does no more.
_IN_ORDER_BYTES_S = 12_500_000_000_000

_CELLS = 4096
# netem's draws are in 8192ths of the jitter that it is told, and have 16 bits.
_SCALE, _MOST = 8192, 32767
_MOST_U32 = 2**32 - 1
# Of the Pareto distribution: the variance is finite, the third moment isn't.
_SHAPE = 3

_NEWQDISC, _ERROR = 36, 2
_REQUEST, _ACK, _REPLACE = 0x1, 0x4, 0x100
_KIND, _OPTIONS = 1, 2
_CORRELATION, _TABLE, _RATE, _RATE64, _LATENCY64, _JITTER64, _SEED = 1, 2, 6, 8, 10, 11, 14


def quantile(kind: str, share: float) -> float:
    """The value that this share of all draws is below, for some mean and some spread."""
    from statistics import NormalDist

    if kind == "normal":
        return NormalDist().inv_cdf(share)
    return share if kind == "uniform" else (1 - share) ** (-1 / _SHAPE)


def table(kind: str, spread_ns: int) -> tuple[int, list[int]]:
    """netem's jitter in ns, and its table: equally likely values with mean 0 and standard deviation `spread_ns`.

    The values are the quantiles in the middle of equal shares.
    """
    values = [quantile(kind, (cell + 0.5) / _CELLS) for cell in range(_CELLS)]
    mean = sum(values) / _CELLS
    spread = (sum((value - mean) ** 2 for value in values) / _CELLS) ** 0.5
    values = [(value - mean) / spread for value in values]
    reach = max(map(abs, values)) * _SCALE / _MOST
    return round(spread_ns * reach), [round(value / reach * _SCALE) for value in values]


def seed_of(seed: int, node: str, interface: str, times: int) -> int:
    """The seed of a link's draws: that of the trial tells it, the link, and how often the link was made anew."""
    import hashlib

    return int.from_bytes(hashlib.sha256(f"{seed} {node} {interface} {times}".encode()).digest()[:8], "little")


class Draws:
    """The draws of a trial's links; `seed` is the trial's."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.times: Counter[tuple[str, str]] = Counter()

    @staticmethod
    def leave_to_flow(interface: str) -> None:
        """Keep IPv6's own packets off a link: they would take draws, and no capture has them."""
        kernel.write_sysctl(f"net.ipv6.conf.{interface}.disable_ipv6", "1")

    def give(self, node: str, pid: int, interface: str, shape: dict, fresh: bool) -> list[str]:
        """Have a link's inner netem draw as the shape says, and what that is in words; nothing without jitter.

        The link is an interface of a node, which the process with this id holds.

        A link that is `fresh` begins its draws; another one goes on with them. OSError when the kernel refuses.
        """
        if "jitter" not in shape:
            return []
        jitter = shape["jitter"]
        wide_ns, cells = table(jitter["kind"], jitter["spread_ns"])
        held = round(jitter["memory"] * _MOST_U32)
        options = struct.pack("=6I", 0, shape["limit_packets"], 0, 0, 0, 0)
        options += _attribute(_LATENCY64, struct.pack("=q", shape["delay_ns"]))
        options += _attribute(_JITTER64, struct.pack("=q", wide_ns))
        if not jitter["reorder"]:
            options += _attribute(_RATE, struct.pack("=IiIi", _MOST_U32, 0, 0, 0))
            options += _attribute(_RATE64, struct.pack("=Q", _IN_ORDER_BYTES_S))
        words = []
        if fresh:
            link = node, interface
            seed = seed_of(self.seed, *link, self.times[link])
            self.times[link] += 1
            options += _attribute(_CORRELATION, struct.pack("=3I", held, 0, 0))
            options += _attribute(_TABLE, struct.pack(f"={len(cells)}h", *cells))
            options += _attribute(_SEED, struct.pack("=Q", seed))
            words = [f"draws dev {interface} {jitter['kind']} seed {seed}"]
        with inside(pid):
            _change(interface, options)
        return words


def _change(interface: str, options: bytes) -> None:
    """Change the inner netem of an interface in the caller's namespace."""
    body = struct.pack("=BBHiIII", socket.AF_UNSPEC, 0, 0, socket.if_nametoindex(interface), shaping.INNER << 16, 0, 0)
    body += _attribute(_KIND, b"netem\0") + _attribute(_OPTIONS, options)
    flags = _REQUEST | _ACK | _REPLACE
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        kernel.sendto(struct.pack("=IHHII", 16 + len(body), _NEWQDISC, flags, 1, 0) + body, (0, 0))
        answer = kernel.recv(1 << 16)
    kind, code = struct.unpack_from("=H", answer, 4)[0], -struct.unpack_from("=i", answer, 16)[0]
    if kind != _ERROR or code:
        code = code or errno.EPROTO
        raise OSError(code, f"{interface}: netem: {os.strerror(code)}")


def _attribute(kind: int, payload: bytes) -> bytes:
    """An attribute as netlink(7) has it, filled up to 4 bytes."""
    return struct.pack("=HH", 4 + len(payload), kind) + payload + bytes(-len(payload) % 4)
