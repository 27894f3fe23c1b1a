"""The structures that callers share with the kernel, read from its headers.

In:  a file of the kernel and the name of a structure in it. Out: its fields, and where they lie in
WebAssembly.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from bellcrank.kernel.text import kernel_file

_STRUCTURE = re.compile(r"^typedef struct (\w+) \{\n(.*?)^\} \1;", re.MULTILINE | re.DOTALL)
_NAMES = re.compile(r"(?:const )?(\w+) (\**)(.+);")
_FUNCTION = re.compile(r"\w+ \(\*(\w+)\)\(.*\);")


@cache
def structure_fields(file: str, name: str) -> tuple[tuple[str, str, int], ...]:
    """The fields of a structure in a header: name, type ("*" for pointers and functions) and length
    (1: no array)."""
    body = next(m[2] for m in _STRUCTURE.finditer(kernel_file(file)) if m[1] == name)
    fields: list[tuple[str, str, int]] = []
    for line in re.sub(r"/\*.*?\*/", "", body).splitlines():
        if not (text := line.strip()):
            continue
        if function := _FUNCTION.fullmatch(text):
            fields.append((function[1], "function", 1))
            continue
        declared = _NAMES.fullmatch(text)
        assert declared is not None, text
        kind, star, names = declared.groups()
        for each in f"{star}{names}".split(", "):
            plain, _, length = each.lstrip("*").rstrip("]").partition("[")
            fields.append((plain, "*" if each.startswith("*") else kind, int(length or 1)))
    return tuple(fields)


@dataclass(frozen=True)
class Layout:
    """Where the fields of a structure lie in a memory of 32-bit addresses: offset, kind and length
    of each."""

    fields: Mapping[str, tuple[int, str, int]]
    size: int

    def write(
        self, memory: Any, address: int, values: Mapping[str, float | Sequence[float]]
    ) -> None:
        """Writes some fields; others are zero."""
        memory[address : address + self.size] = bytearray(self.size)
        for name, x in values.items():
            if name in self.fields:
                offset, kind, _ = self.fields[name]
                numbers = x if isinstance(x, Sequence) else (x,)
                struct.pack_into(f"<{len(numbers)}{kind}", memory, address + offset, *numbers)

    def write_structure(
        self, memory: Any, address: int, source: Any, addresses: Mapping[str, int]
    ) -> None:
        """Writes all fields of a structure of ctypes; pointers are those given, or none."""
        for name, (offset, kind, length) in self.fields.items():
            if kind == "I":
                struct.pack_into("<I", memory, address + offset, addresses.get(name, 0))
            elif length > 1:
                struct.pack_into(
                    f"<{length}{kind}", memory, address + offset, *getattr(source, name)
                )
            else:
                struct.pack_into(f"<{kind}", memory, address + offset, getattr(source, name))

    def read_structure(self, memory: Any, address: int, target: Any) -> None:
        """Reads all fields but pointers."""
        for name, (offset, kind, length) in self.fields.items():
            if kind != "I":
                numbers = struct.unpack_from(f"<{length}{kind}", memory, address + offset)
                if length > 1:
                    getattr(target, name)[:] = numbers
                else:
                    setattr(target, name, numbers[0])


@cache
def layout_of(file: str, name: str) -> Layout:
    """The layout of a structure in a header."""
    fields, position, widest = {}, 0, 4
    for field_name, kind, length in structure_fields(file, name):
        code = {"int32_t": "i", "int64_t": "q", "real": "d", "double": "d"}.get(kind, "I")
        each = struct.calcsize(f"<{code}")
        position, widest = -(-position // each) * each, max(widest, each)
        fields[field_name] = (position, code, length)
        position += each * length
    return Layout(fields, -(-position // widest) * widest)
