"""Names of a model made safe for generated code."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bellcrank.core.name_lookup import routine_name
from bellcrank.symbolic.expr import Symbol
from bellcrank.symbolic.expr.function_table import function_names_in

# Keywords of C up to C23, and the names of its library that generated code uses or that headers may
# define.
RESERVED = frozenset(
    (
        "alignas",
        "alignof",
        "auto",
        "bool",
        "break",
        "case",
        "char",
        "const",
        "constexpr",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "false",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "nullptr",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "static_assert",
        "struct",
        "switch",
        "thread_local",
        "true",
        "typedef",
        "typeof",
        "typeof_unqual",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "asm",
        "main",
        "linux",
        "unix",
        "errno",
        "isfinite",
        "isinf",
        "isnan",
        "memcpy",
        "signbit",
        *function_names_in("c").values(),
        "int32_t",
        "int64_t",
        "uint64_t",
        "size_t",
        "NULL",
        "NAN",
        "INFINITY",
        "DOMAIN",
        "SING",
        "OVERFLOW",
        "UNDERFLOW",
        "PLOSS",
        "TLOSS",
    )
)
MACROS = re.compile(
    r"(FP|FLT|DBL|LDBL|DECIMAL|INT|UINT|SIZE|PTRDIFF|SIG|WCHAR|WINT|HUGE|M|MATH|X|N)_[A-Z0-9_]*"
    r"|HUGE|_.*"
)
# Names that the printers make.
MADE = re.compile(
    r"[zcx]\d+|(angle|sine|cosine|far|both|arguments|values|found|kept|unused|memory|matrix|right"
    r"|mass|force|rows)\d+"
    r"|rates\d+"
    r"|(derivatives|outputs|slopes|constants|table|points|pieces|external)_\w*"
)


def safe_names(symbols: Iterable[Symbol], reserved: Iterable[str] = ()) -> dict[Symbol, str]:
    """An identifier for every symbol: q(b, 4) becomes q_b_4. No two are equal, none is a keyword or
    reserved."""
    reserved_names = {*RESERVED, *reserved}
    names: dict[Symbol, str] = {}
    for symbol in symbols:
        names[symbol] = safe_identifier(symbol.name, reserved_names)
        reserved_names.add(names[symbol])
    return names


def safe_identifier(name: str, reserved_names: Iterable[str] = ()) -> str:
    """A name as an identifier that is not among those taken."""
    base = routine_name(name)
    if not base or not base[0].isalpha() or MACROS.fullmatch(base) or MADE.fullmatch(base):
        base = f"v_{base.lstrip('_')}"
    candidate, number = base, 2
    while candidate in reserved_names:
        candidate, number = f"{base}_{number}", number + 1
    return candidate


def comment_text(text: object) -> str:
    """Text for a comment: one line of printable ASCII, nothing that could end or open a comment."""
    line = " ".join(str(text).replace("\\", "/").split())
    plain = "".join(ch if " " <= ch <= "~" else "?" for ch in line)
    return re.sub(r"\?(?=\?)|\*(?=/)|/(?=\*)", lambda m: m[0] + " ", plain)
