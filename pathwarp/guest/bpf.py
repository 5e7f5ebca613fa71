# SPDX-License-Identifier: Apache-2.0
"""Programs for the kernel's eBPF machine: instructions, maps, and having the kernel load them (bpf(2))."""

import ctypes
import os
import struct

_LIBC = ctypes.CDLL(None, use_errno=True)
_SYS_BPF = 321  # of x86-64
_MAP_CREATE, _MAP_LOOKUP_ELEM, _PROG_LOAD, _OBJ_PIN = 0, 1, 5, 6
_SCHED_CLS = 3
HASH, ARRAY = 1, 2
_LOG_BYTES = 1 << 20

# Helpers of the kernel, by their numbers.
MAP_LOOKUP, MAP_UPDATE = 1, 2
# What a classifier answers: go on, or away with it.
OK, SHOT = 0, 2

_LD, _LDX, _ST, _STX, _ALU, _JMP, _ALU64 = 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x07
_IMM, _ABS, _IND, _MEM = 0x00, 0x20, 0x40, 0x60
_SIZES = {1: 0x10, 2: 0x08, 4: 0x00, 8: 0x18}
_OPERATIONS = {"add": 0x00, "sub": 0x10, "or": 0x40, "and": 0x50, "lsh": 0x60, "rsh": 0x70, "mov": 0xB0}
_CONDITIONS = {"ja": 0x00, "jeq": 0x10, "jgt": 0x20, "jge": 0x30, "jset": 0x40, "jne": 0x50, "jlt": 0xA0, "jle": 0xB0}
_REGISTER, _CALL, _EXIT = 0x08, 0x80, 0x90
_PSEUDO_MAP = 1


class Program:
    """A program as it is written, instruction by instruction; jumps go to labels.

    Registers are numbers, 10 is the end of the stack. A value is an int, or with `reg=True` that register.
    """

    def __init__(self) -> None:
        self._code: list[tuple[int, int, int, int, int]] = []
        self._jumps: dict[int, str] = {}
        self._labels: dict[str, int] = {}

    def label(self, name: str) -> None:
        """Where jumps to that name go."""
        self._labels[name] = len(self._code)

    def alu(self, operation: str, target: int, value: int, reg: bool = False, bits: int = 64) -> None:
        """Register `target` = itself, operation, value; a result of 32 bits fills the rest with zeros."""
        code = (_ALU64 if bits == 64 else _ALU) | _OPERATIONS[operation]
        self._emit(code | (_REGISTER if reg else 0), target, value if reg else 0, 0, 0 if reg else value)

    def jump(self, name: str, condition: str = "ja", left: int = 0, value: int = 0, reg: bool = False) -> None:
        """Go to a label where the condition holds between register `left` and the value, unsigned."""
        self._jumps[len(self._code)] = name
        code = _JMP | _CONDITIONS[condition] | (_REGISTER if reg else 0)
        self._emit(code, left, value if reg else 0, 0, 0 if reg else value)

    def packet(self, size: int, at: int, index: int | None = None) -> None:
        """Register 0 = bytes of the packet, in the host's order, at a place or that far behind the register `index`.

        Register 6 must have the context. 1 to 5 are lost. A packet that is too short ends the program with OK.
        """
        self._emit(_LD | _SIZES[size] | (_ABS if index is None else _IND), 0, index or 0, 0, at)

    def load(self, size: int, target: int, base: int, offset: int) -> None:
        """Register `target` = memory at register `base` + offset."""
        self._emit(_LDX | _SIZES[size] | _MEM, target, base, offset, 0)

    def store(self, size: int, base: int, offset: int, source: int) -> None:
        """Memory at register `base` + offset = register `source`."""
        self._emit(_STX | _SIZES[size] | _MEM, base, source, offset, 0)

    def store_number(self, size: int, base: int, offset: int, number: int) -> None:
        """Memory at register `base` + offset = a number."""
        self._emit(_ST | _SIZES[size] | _MEM, base, 0, offset, number)

    def map(self, target: int, descriptor: int) -> None:
        """Register `target` = a map."""
        self._emit(_LD | _SIZES[8] | _IMM, target, _PSEUDO_MAP, 0, descriptor)
        self._emit(0, 0, 0, 0, 0)

    def call(self, helper: int) -> None:
        """Call the kernel's helper with registers 1 to 5, which are lost; register 0 = its answer."""
        self._emit(_JMP | _CALL, 0, 0, 0, helper)

    def exit(self) -> None:
        """End; register 0 is the answer."""
        self._emit(_JMP | _EXIT, 0, 0, 0, 0)

    def code(self) -> bytes:
        """The program as the kernel takes it (struct bpf_insn); KeyError for a jump to no label."""
        whole = b""
        for place, (code, target, source, offset, number) in enumerate(self._code):
            if place in self._jumps:
                offset = self._labels[self._jumps[place]] - place - 1
            whole += struct.pack("<BBhI", code, source << 4 | target, offset, number & 0xFFFFFFFF)
        return whole

    def _emit(self, code: int, target: int, source: int, offset: int, number: int) -> None:
        self._code.append((code, target, source, offset, number))


class Map:
    """A map in the kernel: keys of 4 bytes to values of 8 (ARRAY), or keys of 8 bytes to values of 8 (HASH)."""

    def __init__(self, kind: int, entries: int) -> None:
        self.key = "<I" if kind == ARRAY else "<Q"
        attributes = struct.pack("<IIIII", kind, struct.calcsize(self.key), 8, entries, 0)
        self.descriptor = _bpf(_MAP_CREATE, attributes)

    def read(self, key: int) -> int:
        """The value of a key; OSError without one."""
        name, value = ctypes.create_string_buffer(struct.pack(self.key, key), 8), ctypes.create_string_buffer(8)
        places = ctypes.addressof(name), ctypes.addressof(value)
        _bpf(_MAP_LOOKUP_ELEM, struct.pack("<IIQQQ", self.descriptor, 0, *places, 0))
        return struct.unpack("<Q", value.raw)[0]


def load(program: Program) -> int:
    """Have the kernel check and load a classifier; its descriptor. OSError with what the verifier says."""
    code = ctypes.create_string_buffer(program.code())
    log, licence = ctypes.create_string_buffer(_LOG_BYTES), ctypes.create_string_buffer(b"Apache-2.0")
    size = len(code.raw) // 8
    places = ctypes.addressof(code), ctypes.addressof(licence)
    try:
        return _bpf(_PROG_LOAD, struct.pack("<IIQQIIQII", _SCHED_CLS, size, *places, 0, 0, 0, 0, 0))
    except OSError:
        attributes = struct.pack("<IIQQIIQII", _SCHED_CLS, size, *places, 1, _LOG_BYTES, ctypes.addressof(log), 0, 0)
        try:
            return _bpf(_PROG_LOAD, attributes)
        except OSError as error:
            said = log.value.decode(errors="replace").strip().splitlines()
            raise OSError(error.errno, f"bpf: {error.strerror}: {' | '.join(said[-8:])}") from None


def pin(descriptor: int, path: str) -> None:
    """Give a program a name in the bpf file system."""
    name = ctypes.create_string_buffer(path.encode())
    _bpf(_OBJ_PIN, struct.pack("<QII", ctypes.addressof(name), descriptor, 0))


def _bpf(command: int, attributes: bytes) -> int:
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    answer = _LIBC.syscall(_SYS_BPF, command, buffer, len(attributes))
    if answer < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return answer
