"""The files of the kernel as text, put together for one model.

In:  which parts a model has. Out: one text without `#include` of kernel files, and without the
parts a model lacks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from bellcrank.core.files.template import template_text

_INCLUDE = re.compile(r'#include "([\w/.]+)"')
_BRANCH = re.compile(r"#(if|elif) (!?)(\w+)|#(else|endif)\b|#(ifn?def)\b")
_PART = re.compile(r"\bMODEL_HAS\((\w+)\)")  # a number where it is known
_WORD = re.compile(r"#define (\w+)(?:\(([\w, ]+)\))?(?: (.+))?")


@cache
def kernel_file(name: str) -> str:
    return template_text("bellcrank.kernel", name)


@cache
def _words(header: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Words that a header defines, and what stands in their places."""
    macros = []
    for name, argument_text, plain in _WORD.findall(header):
        arguments = argument_text.split(", ") if argument_text else []
        call_pattern = (
            r"\((\w+)\)"
            if len(arguments) == 1
            else r"\(" + r"(\w+), " * len(arguments[1:]) + r"(.*?)\)(?=;)"
        )
        for i, argument in enumerate(arguments, 1):
            plain = re.sub(rf"(##)?\b{argument}\b", rf"\\g<{i}>", plain)
        macros.append(
            (
                re.compile(
                    rf"\b{name}"
                    + (call_pattern if arguments else r"\b" + (" " if not plain else ""))
                ),
                plain,
            )
        )
    return tuple(macros)


@dataclass
class Kernel:
    """The kernel for a model with such parts (HAS_... and numbers, by name); no file is taken
    twice."""

    parts: Mapping[str, int]
    _taken: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.parts = {"LINKED": 0, **self.parts}

    def take(self, *names: str) -> str:
        """Files with those that they include; those that were taken before are omitted."""
        text = "".join(self._file(name) for name in names)
        if not self.parts["LINKED"]:
            text = _PART.sub(lambda m: str(self.parts.get(f"HAS_{m[1]}", m[0])), text)
        for word, plain in () if self.parts["LINKED"] else _words(kernel_file("unity.h")):
            text = word.sub(plain, text)
        return text

    def also(self, *names: str) -> str:
        """The same, without counting them as taken: for a text that may stand in the place of
        another."""
        return Kernel(self.parts, {*self._taken}).take(*names)

    def _file(self, name: str) -> str:
        if name in self._taken:
            return ""
        self._taken.add(name)
        lines: list[str] = []
        stack: list[
            tuple[bool, bool, bool]
        ] = []  # branches: decided by the parts? is this one taken, was one before?
        for line in kernel_file(name).splitlines(keepends=True):
            branch = _BRANCH.match(line)
            if branch and self._decides(branch, stack):
                continue
            if any(not is_taken for decided, is_taken, _ in stack if decided):
                continue
            include = _INCLUDE.match(line)
            lines.append(self._file(include[1]) if include else line)
        return "".join(lines)

    def _decides(self, branch: re.Match[str], stack: list[tuple[bool, bool, bool]]) -> bool:
        """Follows a branch of the preprocessor; do the parts decide it, so that its line is
        omitted?"""
        kind, no, name, keyword, defined = branch.groups()
        if defined or (kind == "if" and name not in self.parts):
            stack.append((False, True, True))
            return False
        if kind == "if":
            is_true = bool(self.parts[name]) != bool(no)
            stack.append((True, is_true, is_true))
            return True
        decided, _, was_taken = stack.pop()
        if keyword != "endif":
            is_true = (
                not was_taken and (keyword == "else" or bool(self.parts[name]) != bool(no))
                if decided
                else True
            )
            stack.append((decided, is_true, was_taken or is_true))
        return decided
