"""Procedures in the text of a C or Fortran file: their names, and how many arguments they take."""

from __future__ import annotations

import re

C = re.compile(r"^(?:double|void)\s+(\w+)\s*\(([^()]*)\)\s*\{", re.MULTILINE)
FORTRAN = re.compile(
    r"^[ \t]*(?:pure[ \t]+)?(?:function|subroutine)[ \t]+(\w+)[ \t]*\(([^()]*)\)", re.MULTILINE | re.IGNORECASE
)


def procedures(text: str, language: str) -> dict[str, int]:
    """Names of the procedures, in lower case, and the numbers of their arguments; `language` is "c" or "fortran"."""
    if language == "c":
        plain = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
        return {m[1]: 0 if m[2].strip() in ("", "void") else m[2].count(",") + 1 for m in C.finditer(plain)}
    plain = re.sub(r"![^\n]*", "", text)
    return {m[1].lower(): m[2].count(",") + 1 if m[2].strip() else 0 for m in FORTRAN.finditer(plain)}
