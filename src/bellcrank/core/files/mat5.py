"""What stands in a MATLAB file of version 5: arrays of numbers, texts and structures, by name.

In:  bytes. Out: a dictionary. Every length is checked against what is there, so that a file that is
damaged, or made to do harm, is a ValueError; SciPy's reader may crash on one. (MAT-File Format, The
MathWorks.)
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

from bellcrank.core.files.text_files import max_unpacked_size

NUMBERS = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}  # types of data
MATRIX, COMPRESSED = 14, 15
STRUCTURE, TEXT, NUMERIC = 2, 4, range(6, 16)  # classes of arrays
COMPLEX = 0x0800
HEADER = 128
DEEPEST = 20  # structures within each other


def read_mat5(data: bytes) -> dict[str, Any]:
    """Variables of a file: arrays, texts, and dictionaries for structures; None for anything
    else."""
    order = {b"IM": "<", b"MI": ">"}.get(data[126:128])
    if len(data) < HEADER or order is None:
        raise ValueError("its header is none")
    reader, variables, room = _Mat5Reader(order), dict[str, Any](), max_unpacked_size(len(data))
    for kind, content in reader.split_elements(data[HEADER:]):
        if kind == COMPRESSED:
            content = _decompress(content, room)
            room -= len(content)
            ((kind, content),) = reader.split_elements(content)
        if kind == MATRIX:
            name, value = reader.read_matrix(content, 0)
            variables[name] = value
    return variables


def _decompress(content: bytes, limit: int) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(content, limit + 1)
    except zlib.error as error:
        raise ValueError(f"a part of it cannot be unpacked: {error}") from None
    if len(data) > limit:
        raise ValueError(f"unpacked, it is larger than {limit >> 20} MiB")
    return data


class _Mat5Reader:
    def __init__(self, order: str) -> None:
        self.order = order

    def split_elements(self, data: bytes) -> list[tuple[int, bytes]]:
        """The elements that follow each other: type and content."""
        elements, position = [], 0
        while position + 8 <= len(data):
            first, size = struct.unpack_from(f"{self.order}II", data, position)
            if first >> 16:  # a small one, in its own tag
                kind, size, start, following = (
                    first & 0xFFFF,
                    first >> 16,
                    position + 4,
                    position + 8,
                )
                if size > 4:
                    raise ValueError("a small element is too long")
            else:
                kind, start = first, position + 8
                following = start + size + (0 if kind == COMPRESSED else -size % 8)
            if start + size > len(data):
                raise ValueError("it ends too early")
            elements.append((kind, data[start : start + size]))
            position = following
        return elements

    def read_numbers(self, element: tuple[int, bytes]) -> np.ndarray:
        kind, content = element
        if kind not in NUMBERS:
            raise ValueError(f"data of type {kind} are no numbers")
        return np.frombuffer(content, np.dtype(self.order + NUMBERS[kind]))

    def read_matrix(self, content: bytes, depth: int) -> tuple[str, Any]:
        """Name and value of an array."""
        elements = self.split_elements(content)
        if len(elements) < 3 or depth > DEEPEST:
            return "", None
        flags, shape, name = (
            self.read_numbers(elements[0]),
            self.read_numbers(elements[1]),
            elements[2][1].decode("latin-1"),
        )
        if len(flags) < 1 or len(shape) < 2 or min(shape) < 0:
            raise ValueError("an array has no size")
        kind, count = int(flags[0]) & 0xFF, int(np.prod(shape.astype(float)))
        if kind in NUMERIC and len(elements) > 3 and not int(flags[0]) & COMPLEX:
            values = self.read_numbers(elements[3])
            if len(values) != count:
                raise ValueError(f"'{name}' should hold {count} numbers, not {len(values)}")
            return name, values.astype(float).reshape([int(n) for n in shape], order="F")
        if kind == TEXT and len(elements) > 3:
            return name, self.read_text(elements[3])
        if kind == STRUCTURE and len(elements) > 4 and count == 1:
            return name, self.read_fields(elements[3:], depth)
        return name, None

    def read_text(self, element: tuple[int, bytes]) -> str:
        kind, content = element
        codes = {16: "utf-8", 17: "utf-16", 18: "utf-32"}
        if kind in codes:
            ending = "" if kind == 16 else "-le" if self.order == "<" else "-be"
            return content.decode(codes[kind] + ending, "replace")
        return "".join(map(chr, self.read_numbers(element)))

    def read_fields(self, elements: list[tuple[int, bytes]], depth: int) -> dict[str, Any]:
        (width, *_), names = self.read_numbers(elements[0]), elements[1][1]
        if not 0 < width <= len(names) + 1:
            raise ValueError("a structure has no names")
        listed = [
            names[i : i + int(width)].split(b"\0")[0].decode("latin-1")
            for i in range(0, len(names), int(width))
        ]
        contents = [content for kind, content in elements[2:] if kind == MATRIX]
        if len(contents) != len(listed):
            raise ValueError(f"a structure should have {len(listed)} fields, not {len(contents)}")
        return {
            name: self.read_matrix(content, depth + 1)[1]
            for name, content in zip(listed, contents, strict=True)
        }
