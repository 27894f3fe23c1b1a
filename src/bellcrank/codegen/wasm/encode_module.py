"""Bytes of WebAssembly (core specification): numbers, instructions, sections."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

F64, I32, I64 = b"\x7c", b"\x7f", b"\x7e"
END, BLOCK, IF, DROP, SELECT = b"\x0b", b"\x02\x40", b"\x04\x40", b"\x1a", b"\x1b"
ABS, NEG, SQRT = b"\x99", b"\x9a", b"\x9f"
ADD, SUB, MUL, DIV = b"\xa0", b"\xa1", b"\xa2", b"\xa3"
NE, LT, GT, LE, GE = b"\x62", b"\x63", b"\x64", b"\x65", b"\x66"
INSTRUCTIONS = {  # by the names that the table of functions has for them
    "f64.abs": ABS,
    "f64.ceil": b"\x9b",
    "f64.floor": b"\x9c",
    "f64.sqrt": SQRT,
    "f64.min": b"\xa4",
    "f64.max": b"\xa5",
    "f64.lt": LT,
    "f64.gt": GT,
    "f64.le": LE,
    "f64.ge": GE,
}
AS_FLOAT = b"\xb7"  # of an i32
NOT, PLUS, MINUS, AND, SHIFTED = (
    b"\x45",
    b"\x6a",
    b"\x6b",
    b"\x71",
    b"\x74",
)  # of i32; shifted: to the left
BITS, LOW = b"\xbd", b"\xa7"  # the bits of a float, and the lower half of these
XOR_64, LESS_64 = b"\x85", b"\x54"  # of i64, without a sign


def unsigned_leb128(n: int) -> bytes:
    """LEB128."""
    encoded = bytearray()
    while True:
        n, low = n >> 7, n & 127
        encoded.append(low | (128 if n else 0))
        if not n:
            return bytes(encoded)


def signed_leb128(n: int) -> bytes:
    """LEB128 of a number with a sign."""
    encoded = bytearray()
    while True:
        low, n = n & 127, n >> 7
        is_last = (n == 0 and not low & 64) or (n == -1 and bool(low & 64))
        encoded.append(low | (0 if is_last else 128))
        if is_last:
            return bytes(encoded)


def f64_const(x: float) -> bytes:
    return b"\x44" + struct.pack("<d", x)


def i32_const(n: int) -> bytes:
    return b"\x41" + signed_leb128(n)


def i64_const(n: int) -> bytes:
    return b"\x42" + signed_leb128(n)


def local_get(local: int) -> bytes:
    return b"\x20" + unsigned_leb128(local)


def local_set(local: int) -> bytes:
    return b"\x21" + unsigned_leb128(local)


def local_tee(local: int) -> bytes:
    return b"\x22" + unsigned_leb128(local)


def call_function(function: int) -> bytes:
    return b"\x10" + unsigned_leb128(function)


def f64_load(offset: int) -> bytes:
    """A float from the address on the stack, and so many bytes further."""
    return b"\x2b\x03" + unsigned_leb128(offset)


def f64_store(offset: int) -> bytes:
    """The same for a float on the stack above the address."""
    return b"\x39\x03" + unsigned_leb128(offset)


def branch_out(blocks: int) -> bytes:
    """Continues behind the innermost block (0) or one around it."""
    return b"\x0c" + unsigned_leb128(blocks)


def leave_if(blocks: int) -> bytes:
    """The same if the integer on the stack is not zero."""
    return b"\x0d" + unsigned_leb128(blocks)


def encode_vector(items: Sequence[bytes]) -> bytes:
    return unsigned_leb128(len(items)) + b"".join(items)


def encode_name(text: str) -> bytes:
    encoded = text.encode()
    return unsigned_leb128(len(encoded)) + encoded


def function_body(local_types: Iterable[tuple[int, bytes]], code: bytes) -> bytes:
    """A function: how many locals of each type, and its instructions."""
    text = encode_vector([unsigned_leb128(n) + kind for n, kind in local_types if n]) + code + END
    return unsigned_leb128(len(text)) + text


@dataclass(frozen=True)
class FunctionType:
    """What a function takes and gives."""

    takes: tuple[bytes, ...] = ()
    gives: tuple[bytes, ...] = ()

    def encode(self) -> bytes:
        return b"\x60" + encode_vector(self.takes) + encode_vector(self.gives)


@dataclass(frozen=True)
class ImportedFunction:
    """A function from outside."""

    module: str
    name: str
    type: FunctionType


@dataclass(frozen=True)
class DefinedFunction:
    """A function of the module; `code` as `function_body` gives it."""

    name: str
    type: FunctionType
    code: bytes


def module(
    imports: Sequence[ImportedFunction],
    functions: Sequence[DefinedFunction],
    pages: int,
    address: int,
    data: bytes,
) -> bytes:
    """A module over the memory `e.memory`, in which it puts data at an address; it exports its
    functions by name."""
    types = list(dict.fromkeys([*(x.type for x in imports), *(f.type for f in functions)]))
    import_entries = [
        encode_name(x.module) + encode_name(x.name) + b"\x00" + unsigned_leb128(types.index(x.type))
        for x in imports
    ]
    memory = encode_name("e") + encode_name("memory") + b"\x02\x00" + unsigned_leb128(pages)
    exported = [
        encode_name(f.name) + b"\x00" + unsigned_leb128(len(imports) + i)
        for i, f in enumerate(functions)
    ]
    return b"\0asm\1\0\0\0" + b"".join(
        (
            _encode_section(1, encode_vector([t.encode() for t in types])),
            _encode_section(2, encode_vector([*import_entries, memory])),
            _encode_section(
                3, encode_vector([unsigned_leb128(types.index(f.type)) for f in functions])
            ),
            _encode_section(7, encode_vector(exported)),
            _encode_section(10, encode_vector([f.code for f in functions])),
            _encode_section(
                11,
                encode_vector(
                    [b"\x00" + i32_const(address) + END + unsigned_leb128(len(data)) + data]
                ),
            )
            if data
            else b"",
        )
    )


def _encode_section(kind: int, content: bytes) -> bytes:
    return bytes([kind]) + unsigned_leb128(len(content)) + content
