"""The files of the kernel as text: put together for one model, and the structures that callers share with it.

In:  which parts a model has. Out: one text without `#include` of kernel files, and without the parts a model lacks.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from bellcrank.files.template import template

_INCLUDE = re.compile(r'#include "([\w/.]+)"')
_BRANCH = re.compile(r"#(if|elif) (!?)(\w+)|#(else|endif)\b|#(ifn?def)\b")
_STRUCTURE = re.compile(r"^typedef struct (\w+) \{\n(.*?)^\} \1;", re.MULTILINE | re.DOTALL)
_NAMES = re.compile(r"(?:const )?(\w+) (\**)(.+);")
_FUNCTION = re.compile(r"\w+ \(\*(\w+)\)\(.*\);")
_PART = re.compile(r"\bMODEL_HAS\((\w+)\)")  # a number where it is known
_WORD = re.compile(r"#define (\w+)(?:\(([\w, ]+)\))?(?: (.+))?")


@cache
def kernel_file(name: str) -> str:
    return template("bellcrank.kernel", name)


@cache
def _words(header: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Words that a header defines, and what stands in their places."""
    found = []
    for name, given, plain in _WORD.findall(header):
        arguments = given.split(", ") if given else []
        behind = r"\((\w+)\)" if len(arguments) == 1 else r"\(" + r"(\w+), " * len(arguments[1:]) + r"(.*?)\)(?=;)"
        for i, argument in enumerate(arguments, 1):
            plain = re.sub(rf"(##)?\b{argument}\b", rf"\\g<{i}>", plain)
        found.append((re.compile(rf"\b{name}" + (behind if arguments else r"\b" + (" " if not plain else ""))), plain))
    return tuple(found)


@dataclass
class Kernel:
    """The kernel for a model with such parts (HAS_... and numbers, by name); no file is taken twice."""

    parts: Mapping[str, int]
    _taken: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.parts = {"LINKED": 0, **self.parts}

    def take(self, *names: str) -> str:
        """Files with those that they include; those that were taken before are left out."""
        text = "".join(self._file(name) for name in names)
        if not self.parts["LINKED"]:
            text = _PART.sub(lambda m: str(self.parts.get(f"HAS_{m[1]}", m[0])), text)
        for word, plain in () if self.parts["LINKED"] else _words(kernel_file("unity.h")):
            text = word.sub(plain, text)
        return text

    def also(self, *names: str) -> str:
        """The same, without counting them as taken: for a text that may stand in the place of another."""
        return Kernel(self.parts, {*self._taken}).take(*names)

    def _file(self, name: str) -> str:
        if name in self._taken:
            return ""
        self._taken.add(name)
        lines: list[str] = []
        stack: list[tuple[bool, bool, bool]] = []  # branches: decided by the parts? is this one taken, was one before?
        for line in kernel_file(name).splitlines(keepends=True):
            branch = _BRANCH.match(line)
            if branch and self._decides(branch, stack):
                continue
            if any(not taken for decided, taken, _ in stack if decided):
                continue
            include = _INCLUDE.match(line)
            lines.append(self._file(include[1]) if include else line)
        return "".join(lines)

    def _decides(self, branch: re.Match[str], stack: list[tuple[bool, bool, bool]]) -> bool:
        """Follows a branch of the preprocessor; do the parts decide it, so that its line is left out?"""
        kind, no, name, other, defined = branch.groups()
        if defined or (kind == "if" and name not in self.parts):
            stack.append((False, True, True))
            return False
        if kind == "if":
            holds = bool(self.parts[name]) != bool(no)
            stack.append((True, holds, holds))
            return True
        decided, _, before = stack.pop()
        if other != "endif":
            holds = not before and (other == "else" or bool(self.parts[name]) != bool(no)) if decided else True
            stack.append((decided, holds, before or holds))
        return decided


@cache
def structure_fields(file: str, name: str) -> tuple[tuple[str, str, int], ...]:
    """The fields of a structure in a header: name, type ("*" for pointers and functions) and length (1: no array)."""
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
    """Where the fields of a structure lie in a memory of 32-bit addresses: offset, kind and length of each."""

    fields: Mapping[str, tuple[int, str, int]]
    size: int

    def write(self, memory: Any, at: int, values: Mapping[str, float]) -> None:
        """Writes some fields; others are zero."""
        memory[at : at + self.size] = 0
        for name, x in values.items():
            if name in self.fields:
                offset, kind, _ = self.fields[name]
                struct.pack_into(f"<{kind}", memory, at + offset, x)

    def write_structure(self, memory: Any, at: int, source: Any, addresses: Mapping[str, int]) -> None:
        """Writes all fields of a structure of ctypes; pointers are those given, or none."""
        for name, (offset, kind, length) in self.fields.items():
            if kind == "I":
                struct.pack_into("<I", memory, at + offset, addresses.get(name, 0))
            elif length > 1:
                struct.pack_into(f"<{length}{kind}", memory, at + offset, *getattr(source, name))
            else:
                struct.pack_into(f"<{kind}", memory, at + offset, getattr(source, name))

    def read_structure(self, memory: Any, at: int, target: Any) -> None:
        """Reads all fields but pointers."""
        for name, (offset, kind, length) in self.fields.items():
            if kind != "I":
                found = struct.unpack_from(f"<{length}{kind}", memory, at + offset)
                if length > 1:
                    getattr(target, name)[:] = found
                else:
                    setattr(target, name, found[0])


@cache
def layout_of(file: str, name: str) -> Layout:
    """The layout of a structure in a header."""
    fields, at, widest = {}, 0, 4
    for field_name, kind, length in structure_fields(file, name):
        code = {"int32_t": "i", "int64_t": "q", "real": "d", "double": "d"}.get(kind, "I")
        each = struct.calcsize(f"<{code}")
        at, widest = -(-at // each) * each, max(widest, each)
        fields[field_name] = (at, code, length)
        at += each * length
    return Layout(fields, -(-at // widest) * widest)
