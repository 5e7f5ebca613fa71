# SPDX-License-Identifier: Apache-2.0
"""Losses of exactly chosen packets: a classifier on a router of each path, ahead of the shaping, names them by a byte.

Counting packets would not do: where a burst is cut into packets, and how often each is sent, hangs on the variant. What
is lost so is in the sender's capture and not in the receiver's, and takes no room on the link.

Only who asks for a certain packet of all that a link carries has packets counted.
"""

import os
import socket
import struct

import bpf
import kernel
from bpf import Map, Program
from network import Network

_FOLDER = "/sys/fs/bpf"
_BASE, _IS_KNOWN, _COUNTERS = 0, 1, 2
_KNOWN_OF_IT = 3
_MOST_SUBFLOWS = 4096
_OURS = 32
_DATA, _ACK = "data", "ack"

# Where things are in a packet: Ethernet, IPv4 without options, TCP; the MPTCP option is behind the timestamps.
_ETHERTYPE, _VERSION, _LENGTH, _IDENT, _PROTOCOL, _SOURCE, _TARGET = 12, 14, 16, 18, 23, 26, 30
_PORTS, _SEQ, _ACKED, _HEADER, _FLAGS, _OPTION = 34, 38, 42, 46, 47, 66
_IPV4, _WITHOUT_OPTIONS, _TCP, _UDP, _MPTCP, _NOP, _SACK = 0x0800, 0x45, 6, 17, 30, 1, 5
_IP_BYTES, _UDP_BYTES, _LEAST_WITH_OPTION = 20, 8, 44
_PLAIN_IPV4 = ((2, _ETHERTYPE, _IPV4), (1, _VERSION, _WITHOUT_OPTIONS))
_SYN, _ACK_ALONE, _NO_PLAIN_ACK = 0x02, 0x10, 0x17
_CAPABLE, _DSS = 0, 2
_HAS_ACK, _WIDE_ACK, _HAS_MAP, _WIDE_MAP = 0x01, 0x02, 0x04, 0x08

# Places on the stack, below register 10.
_KEY, _VALUE, _INDEX, _REL, _BITS, _HIGH, _PORT_PAIR = -8, -16, -24, -32, -40, -48, -56
# Registers: the context; where the payload begins in the stream, or what of it is acknowledged; how long it is; the
# answer.
_CONTEXT, _AT, _SIZE, _ANSWER, _STACK = 6, 7, 8, 9, 10


class Losses:
    """The classifiers of a trial; `report` says what they met."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.targets = network.plan["losses"]
        self.subflows = Map(bpf.HASH, _MOST_SUBFLOWS)
        counted = [index for index, target in enumerate(self.targets) if "number" in target]
        known = _COUNTERS + 2 * max(len(self.targets), 1)
        # Of a target that is counted: where the map tells which packet it was, by `_KNOWN_OF_IT` numbers.
        self.places = {index: known + _KNOWN_OF_IT * place for place, index in enumerate(counted)}
        self.state = Map(bpf.ARRAY, known + _KNOWN_OF_IT * len(counted))
        if not os.path.ismount(_FOLDER):
            kernel.mount("bpf", _FOLDER, "bpf")
        for number, path in enumerate(network.plan["paths"]):
            lines: dict[str, list[str]] = {}
            for what in (_DATA, _ACK):
                tap = network.plan["taps"][path][what]
                name = f"{_FOLDER}/{path}-{what}"
                program = self._data(number, path) if what == _DATA else self._acks(number, path)
                bpf.pin(bpf.load(program), name)
                own = lines.setdefault(tap["node"], [])
                own.append(f"qdisc add dev {tap['interface']} clsact")
                own.append(f"filter add dev {tap['interface']} egress bpf direct-action object-pinned {name}")
            for node, own in lines.items():
                network.batch(network.routers[node], "tc", own)

    def report(self) -> list[dict]:
        """For each of the plan's losses how many copies came by, and how many of these were lost.

        Of one that was counted on a link also which packet it was.
        """
        return [
            {
                "seen": self.state.read(_COUNTERS + 2 * number),
                "lost": self.state.read(_COUNTERS + 2 * number + 1),
                **({"packet": self._packet(number)} if number in self.places else {}),
            }
            for number in range(len(self.targets))
        ]

    def _packet(self, number: int) -> dict[str, int | str]:
        """A packet that was lost, by what tells it from all others in a capture; `seq` means nothing over UDP."""
        addresses, ports, rest = (self.state.read(self.places[number] + place) for place in range(_KNOWN_OF_IT))
        source, target = (socket.inet_ntoa(struct.pack("!I", addresses >> shift & 0xFFFFFFFF)) for shift in (32, 0))
        return {
            "source": source,
            "target": target,
            "source_port": ports >> 16,
            "target_port": ports & 0xFFFF,
            "ident": rest >> 32,
            "seq": rest & 0xFFFFFFFF,
        }

    def _data(self, number: int, path: str) -> Program:
        """Towards the receiver: where each segment's payload is in the stream."""
        p = Program()
        self._begin(p)
        self._count_all(p, path, _DATA)
        self._only_tcp(p)
        self._tcp_header_bytes(p)
        p.packet(4, _PORTS)
        p.store(8, _STACK, _PORT_PAIR, 0)
        self._subflow_key(p, number)
        p.packet(1, _FLAGS)
        p.jump("syn", "jset", 0, _SYN)
        p.packet(2, _LENGTH)
        p.alu("sub", 0, _IP_BYTES)
        p.jump("end", "jle", 0, _SIZE, reg=True)
        p.store(8, _STACK, _HIGH, _SIZE)
        p.alu("sub", 0, _SIZE, reg=True)
        p.alu("mov", _SIZE, 0, reg=True)
        self._look_up(p, self.subflows, _KEY)
        p.load(8, _AT, 0, 0)
        p.packet(4, _SEQ)
        p.alu("sub", 0, _AT, reg=True, bits=32)
        p.store(8, _STACK, _REL, 0)
        if self.network.plan["transport"] == "mptcp":
            self._mapping(p)
        else:
            self._as_it_is(p)
        p.label("ours")
        self._look_up(p, self.subflows, _KEY)
        p.load(8, 1, 0, 0)
        p.alu("mov", 2, 1)
        p.alu("lsh", 2, _OURS)
        p.alu("or", 1, 2, reg=True)
        p.store(8, 0, 0, 1)
        for index, target in self._of(path, _DATA):
            p.alu("mov", 2, target["byte"], bits=32)
            p.jump(f"next-{index}", "jgt", _AT, 2, reg=True)
            p.alu("mov", 1, _AT, reg=True)
            p.alu("add", 1, _SIZE, reg=True)
            p.jump(f"next-{index}", "jle", 1, 2, reg=True)
            self._count(p, index, target["copies"])
            p.label(f"next-{index}")
        self._finish(p)
        p.label("syn")
        p.packet(4, _SEQ)
        p.store(8, _STACK, _VALUE, 0)
        p.map(1, self.subflows.descriptor)
        p.alu("mov", 2, _STACK, reg=True)
        p.alu("add", 2, _KEY)
        p.alu("mov", 3, _STACK, reg=True)
        p.alu("add", 3, _VALUE)
        p.alu("mov", 4, 0)
        p.call(bpf.MAP_UPDATE)
        p.jump("end")
        return p

    def _mapping(self, p: Program) -> None:
        """The stream's byte from the DSS mapping (RFC 8684, 3.3.1); the connection's first one tells the first DSN.

        Data on the connection's first subflow that comes with MP_CAPABLE has none: there it is the subflow's own.
        """
        p.load(8, 1, _STACK, _HIGH)
        p.jump("end", "jlt", 1, _LEAST_WITH_OPTION)
        p.packet(1, _OPTION)
        p.jump("end", "jne", 0, _MPTCP)
        p.packet(1, _OPTION + 2)
        p.alu("rsh", 0, 4)
        p.jump("as-it-is", "jeq", 0, _CAPABLE)
        p.jump("end", "jne", 0, _DSS)
        p.packet(1, _OPTION + 3)
        p.store(8, _STACK, _BITS, 0)
        p.alu("and", 0, _HAS_MAP | _WIDE_MAP)
        p.jump("end", "jne", 0, _HAS_MAP | _WIDE_MAP)
        p.load(8, 1, _STACK, _BITS)
        p.alu("mov", _AT, _OPTION + 4)
        p.jump("mapping", "jeq", 1, 0)
        p.alu("mov", 2, 1, reg=True)
        p.alu("and", 2, _HAS_ACK)
        p.jump("mapping", "jeq", 2, 0)
        p.alu("add", _AT, 4)
        p.alu("and", 1, _WIDE_ACK)
        p.jump("mapping", "jeq", 1, 0)
        p.alu("add", _AT, 4)
        p.label("mapping")
        p.packet(4, 0, _AT)
        p.alu("lsh", 0, 32)
        p.store(8, _STACK, _HIGH, 0)
        p.packet(4, 4, _AT)
        p.load(8, 1, _STACK, _HIGH)
        p.alu("or", 1, 0, reg=True)
        p.store(8, _STACK, _HIGH, 1)
        # The subflow's sequence number that the mapping begins at; both count from the SYN.
        p.packet(4, 8, _AT)
        p.load(8, _AT, _STACK, _REL)
        p.alu("sub", _AT, 0, reg=True, bits=32)
        p.load(8, 1, _STACK, _HIGH)
        p.alu("add", _AT, 1, reg=True)
        # Register 7 is the DSN of the payload's first byte.
        self._look_up_state(p, _IS_KNOWN)
        p.load(8, 1, 0, 0)
        p.jump("known", "jne", 1, 0)
        p.load(8, 1, _STACK, _PORT_PAIR)
        p.alu("and", 1, 0xFFFF)
        p.jump("end", "jne", 1, self.network.plan["port"])
        p.store_number(8, 0, 0, 1)
        self._look_up_state(p, _BASE)
        p.load(8, 1, _STACK, _REL)
        p.alu("mov", 2, _AT, reg=True)
        p.alu("sub", 2, 1, reg=True)
        p.alu("add", 2, 1)
        p.store(8, 0, 0, 2)
        p.label("known")
        self._look_up_state(p, _BASE)
        p.load(8, 1, 0, 0)
        p.alu("sub", _AT, 1, reg=True)
        # Another connection's numbers lie anywhere else.
        p.alu("mov", 1, 1)
        p.alu("lsh", 1, 40)
        p.jump("end", "jge", _AT, 1, reg=True)
        p.jump("ours")
        self._as_it_is(p)

    def _as_it_is(self, p: Program) -> None:
        """The stream's byte is the subflow's; the port tells the data's connection from others."""
        p.label("as-it-is")
        p.load(8, 1, _STACK, _PORT_PAIR)
        p.alu("and", 1, 0xFFFF)
        p.jump("end", "jne", 1, self.network.plan["port"])
        p.load(8, _AT, _STACK, _REL)
        p.alu("sub", _AT, 1)

    def _acks(self, number: int, path: str) -> Program:
        """Towards the sender: how far a pure acknowledgment acknowledges the stream, on subflows that had data."""
        p = Program()
        self._begin(p)
        self._count_all(p, path, _ACK)
        self._only_tcp(p)
        p.packet(1, _FLAGS)
        p.alu("and", 0, _NO_PLAIN_ACK)
        p.jump("end", "jne", 0, _ACK_ALONE)
        self._tcp_header_bytes(p)
        p.alu("add", _SIZE, _IP_BYTES)
        p.packet(2, _LENGTH)
        p.jump("end", "jne", 0, _SIZE, reg=True)
        p.packet(4, _PORTS)
        p.alu("mov", 1, 0, reg=True)
        p.alu("rsh", 1, 16)
        p.alu("and", 0, 0xFFFF)
        p.alu("lsh", 0, 16)
        p.alu("or", 0, 1, reg=True)
        self._subflow_key(p, number)
        self._look_up(p, self.subflows, _KEY)
        p.load(8, _AT, 0, 0)
        p.alu("mov", 1, _AT, reg=True)
        p.alu("rsh", 1, _OURS)
        p.jump("end", "jeq", 1, 0)
        if self.network.plan["transport"] == "mptcp":
            self._data_ack(p)
        else:
            p.packet(4, _ACKED)
            p.alu("sub", 0, _AT, reg=True, bits=32)
            p.alu("mov", _AT, 0, reg=True)
            p.alu("sub", _AT, 1, bits=32)
        p.alu("mov", 1, 0x80000000, bits=32)
        p.jump("end", "jge", _AT, 1, reg=True)
        for index, target in self._of(path, _ACK):
            p.alu("mov", 2, target["byte"], bits=32)
            p.jump(f"next-{index}", "jle", _AT, 2, reg=True)
            self._count(p, index, target["copies"])
            p.label(f"next-{index}")
        self._finish(p)
        return p

    def _data_ack(self, p: Program) -> None:
        """The stream's byte from the Data ACK; selective acknowledgments come ahead of the MPTCP option."""
        p.alu("mov", _AT, _OPTION)
        p.packet(1, 0, _AT)
        p.jump("option", "jne", 0, _NOP)
        p.packet(1, 2, _AT)
        p.jump("end", "jne", 0, _SACK)
        p.packet(1, 3, _AT)
        p.alu("add", _AT, 2)
        p.alu("add", _AT, 0, reg=True)
        p.label("option")
        # The option has to lie within the packet's header.
        p.alu("mov", 1, _AT, reg=True)
        p.alu("sub", 1, 10)
        p.jump("end", "jgt", 1, _SIZE, reg=True)
        p.packet(1, 0, _AT)
        p.jump("end", "jne", 0, _MPTCP)
        p.packet(1, 2, _AT)
        p.alu("rsh", 0, 4)
        p.jump("end", "jne", 0, _DSS)
        p.packet(1, 3, _AT)
        p.jump("has-ack", "jset", 0, _HAS_ACK)
        p.jump("end")
        p.label("has-ack")
        p.alu("and", 0, _WIDE_ACK)
        p.jump("narrow", "jeq", 0, 0)
        p.alu("add", _AT, 4)
        p.label("narrow")
        p.packet(4, 4, _AT)
        p.alu("mov", _AT, 0, reg=True)
        self._look_up_state(p, _BASE)
        p.load(8, 1, 0, 0)
        p.alu("sub", _AT, 1, reg=True, bits=32)

    def _of(self, path: str, what: str) -> list[tuple[int, dict]]:
        return [
            (index, target)
            for index, target in enumerate(self.targets)
            if target["what"] == what and target["path"] in ("", path) and index not in self.places
        ]

    def _count_all(self, p: Program, path: str, what: str) -> None:
        """Lose packets by their number among all with data, or all pure acknowledgments, that leave here."""
        counted = [i for i in self.places if (self.targets[i]["what"], self.targets[i]["path"]) == (what, path)]
        if not counted:
            return
        self._require(p, "counted", *_PLAIN_IPV4)
        p.packet(1, _PROTOCOL)
        p.jump("count-tcp", "jeq", 0, _TCP)
        p.jump("counted", "jne", 0, _UDP)
        p.alu("mov", _SIZE, _IP_BYTES + _UDP_BYTES)
        p.jump("count" if what == _DATA else "counted")
        p.label("count-tcp")
        if what == _ACK:
            p.packet(1, _FLAGS)
            p.alu("and", 0, _NO_PLAIN_ACK)
            p.jump("counted", "jne", 0, _ACK_ALONE)
        self._tcp_header_bytes(p)
        p.alu("add", _SIZE, _IP_BYTES)
        p.label("count")
        p.packet(2, _LENGTH)
        p.jump("counted", "jle" if what == _DATA else "jne", 0, _SIZE, reg=True)
        for index in counted:
            self._add_one(p, _COUNTERS + 2 * index)
            p.jump(f"not-{index}", "jne", 1, self.targets[index]["number"])
            p.alu("mov", _ANSWER, bpf.SHOT)
            self._add_one(p, _COUNTERS + 2 * index + 1)
            p.packet(4, _SOURCE)
            p.alu("mov", _AT, 0, reg=True)
            p.packet(4, _TARGET)
            self._keep(p, self.places[index])
            p.alu("mov", _AT, 0)
            p.packet(4, _PORTS)
            self._keep(p, self.places[index] + 1)
            p.packet(2, _IDENT)
            p.alu("mov", _AT, 0, reg=True)
            p.packet(4, _SEQ)
            self._keep(p, self.places[index] + 2)
            p.label(f"not-{index}")
        p.label("counted")

    def _keep(self, p: Program, index: int) -> None:
        """Keep a number of 64 bits: register 7 has the upper half, register 0 the lower one."""
        p.alu("lsh", _AT, 32)
        p.alu("or", _AT, 0, reg=True)
        self._look_up_state(p, index)
        p.store(8, 0, 0, _AT)

    @staticmethod
    def _begin(p: Program) -> None:
        p.alu("mov", _CONTEXT, 1, reg=True)
        p.alu("mov", _ANSWER, bpf.OK)

    def _only_tcp(self, p: Program) -> None:
        self._require(p, "end", *_PLAIN_IPV4, (1, _PROTOCOL, _TCP))

    @staticmethod
    def _require(p: Program, otherwise: str, *fields: tuple[int, int, int]) -> None:
        """Go to the label `otherwise` unless each field, of (size, place, value), has its value."""
        for size, at, wanted in fields:
            p.packet(size, at)
            p.jump(otherwise, "jne", 0, wanted)

    @staticmethod
    def _tcp_header_bytes(p: Program) -> None:
        """Register 8 = how long the TCP header is."""
        p.packet(1, _HEADER)
        p.alu("and", 0, 0xF0)
        p.alu("rsh", 0, 2)
        p.alu("mov", _SIZE, 0, reg=True)

    @staticmethod
    def _subflow_key(p: Program, number: int) -> None:
        """Register 0 has the sender's port, then the receiver's: with the path's number the key of a subflow."""
        p.alu("mov", 1, number)
        p.alu("lsh", 1, 32)
        p.alu("or", 0, 1, reg=True)
        p.store(8, _STACK, _KEY, 0)

    @staticmethod
    def _look_up(p: Program, table: Map, key: int) -> None:
        """Register 0 = where the value of a key on the stack is; without one the packet goes on."""
        p.map(1, table.descriptor)
        p.alu("mov", 2, _STACK, reg=True)
        p.alu("add", 2, key)
        p.call(bpf.MAP_LOOKUP)
        p.jump("end", "jeq", 0, 0)

    def _look_up_state(self, p: Program, index: int) -> None:
        p.store_number(4, _STACK, _INDEX, index)
        self._look_up(p, self.state, _INDEX)

    def _count(self, p: Program, index: int, copies: int) -> None:
        """Count a copy, and lose it where its bit says so; the last bit is for all copies behind it."""
        self._add_one(p, _COUNTERS + 2 * index)
        p.alu("sub", 1, 1)
        p.jump(f"bit-{index}", "jle", 1, 31)
        p.alu("mov", 1, 31)
        p.label(f"bit-{index}")
        p.alu("mov", 2, copies, bits=32)
        p.alu("rsh", 2, 1, reg=True)
        p.alu("and", 2, 1)
        p.jump(f"next-{index}", "jeq", 2, 0)
        p.alu("mov", _ANSWER, bpf.SHOT)
        self._add_one(p, _COUNTERS + 2 * index + 1)

    def _add_one(self, p: Program, index: int) -> None:
        """Register 1 = the new value of a counter."""
        self._look_up_state(p, index)
        p.load(8, 1, 0, 0)
        p.alu("add", 1, 1)
        p.store(8, 0, 0, 1)

    @staticmethod
    def _finish(p: Program) -> None:
        p.label("end")
        p.alu("mov", 0, _ANSWER, reg=True)
        p.exit()
