"""A module with its instructions apart from their numbers: the same bytes, but half as long once
they are compressed.

In:  a module of WebAssembly as this package writes it. Out: bytes, which `join.js` of live pages
puts together, and the lengths of their parts: what stands before the code, locals of functions,
instructions, which local was used how many others ago, new locals, addresses, floats, other
numbers, and what stands behind the code.
"""

from __future__ import annotations

from bellcrank.codegen.wasm.encode_module import unsigned_leb128
from bellcrank.core.errors import InternalError

CODE = 10  # the number of that section
BLOCKS, END, CALL_BY_TABLE, FLOAT = (0x02, 0x03, 0x04), 0x0B, 0x11, 0x44
LOCALS, MEMORY = range(0x20, 0x23), range(0x28, 0x3F)
ONE = (
    *BLOCKS,
    0x0C,
    0x0D,
    0x10,
    0x23,
    0x24,
    0x3F,
    0x40,
    0x41,
    0x42,
)  # instructions with one number
NONE = {0x00, 0x01, 0x05, END, 0x0F, 0x1A, 0x1B, *range(0x45, 0xC0)}


def split_module(module: bytes) -> tuple[bytes, list[int]]:
    """The module in parts, one behind the other, and their lengths."""
    offset = 8
    while module[offset] != CODE:
        size, content_start = _read_leb128(module, offset + 1)
        offset = content_start + size
    size, content_start = _read_leb128(module, offset + 1)
    streams = _ModuleStreams(module)
    count, i = _read_leb128(module, content_start)
    streams.heads += unsigned_leb128(count)
    for _ in range(count):
        _, i = _read_leb128(module, i)
        i = streams.split_function(i)
    sections = (module[:offset], *map(bytes, streams.streams), module[content_start + size :])
    return b"".join(sections), [len(x) for x in sections]


class _ModuleStreams:
    def __init__(self, module: bytes) -> None:
        self.module = module
        self.heads, self.code, self.ago, self.new = (
            bytearray(),
            bytearray(),
            bytearray(),
            bytearray(),
        )
        self.addresses, self.floats, self.others = bytearray(), bytearray(), bytearray()
        self.address = 0

    @property
    def streams(self) -> tuple[bytearray, ...]:
        return self.heads, self.code, self.ago, self.new, self.addresses, self.floats, self.others

    def split_function(self, i: int) -> int:
        """Takes one apart that begins at i, behind its size; where the next begins."""
        m, depth, recent_locals, last = self.module, 1, list[int](), 0
        kinds, next_offset = _read_leb128(m, i)
        for _ in range(kinds):
            next_offset = _read_leb128(m, next_offset)[1] + 1
        self.heads += m[i:next_offset]
        i = next_offset
        while depth:
            op, i = m[i], i + 1
            self.code.append(op)
            depth += (op in BLOCKS) - (op == END)
            if op in LOCALS:
                local, i = _read_leb128(m, i)
                if local in recent_locals:
                    distance = recent_locals.index(local)
                    del recent_locals[distance]
                    self.ago += unsigned_leb128(distance + 1)
                else:
                    self.ago.append(0)
                    self.new += _zigzag_leb128(local - last)
                    last = local
                recent_locals.insert(0, local)
            elif op in MEMORY:
                i = self._copy_leb128(i)
                address, i = _read_leb128(m, i)
                self.addresses += _zigzag_leb128(address - self.address)
                self.address = address
            elif op == FLOAT:
                self.floats += m[i : i + 8]
                i += 8
            elif op in ONE or op == CALL_BY_TABLE:
                i = self._copy_leb128(i)
                i = self._copy_leb128(i) if op == CALL_BY_TABLE else i
            elif op not in NONE:
                raise InternalError(f"an instruction {op:#x} that pages cannot put together")
        return i

    def _copy_leb128(self, i: int) -> int:
        next_offset = _read_leb128(self.module, i)[1]
        self.others += self.module[i:next_offset]
        return next_offset


def _read_leb128(data: bytes, i: int) -> tuple[int, int]:
    """LEB128: the number without a sign, and where it ends."""
    value = shift = 0
    while True:
        byte = data[i]
        value, shift, i = value | (byte & 127) << shift, shift + 7, i + 1
        if byte < 128:
            return value, i


def _zigzag_leb128(n: int) -> bytes:
    """A difference: twice its size, one less where it is negative."""
    return unsigned_leb128(2 * n if n >= 0 else -2 * n - 1)
