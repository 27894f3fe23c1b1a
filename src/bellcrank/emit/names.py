"""Names of a model made safe for generated code."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bellcrank.expr import Symbol

# Keywords of C up to C23 and of C++, so that the source can be taken into either.
KEYWORDS = frozenset(
    """alignas alignof and asm auto bitand bitor bool break case catch char class compl concept const const_cast constexpr
    continue decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto if
    inline int long mutable namespace new noexcept not nullptr operator or private protected public register
    reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch template
    this thread_local throw true try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t
    while xor""".split()
)
# Names of the C library that generated code calls or that its headers may define as macros.
LIBRARY = frozenset(
    """acos asin atan atan2 cos exp fabs isfinite log memcpy pow sin sqrt tan linux unix errno main signbit isnan isinf
    int64_t uint64_t size_t NULL NAN INFINITY DOMAIN SING OVERFLOW UNDERFLOW PLOSS TLOSS EXPORT""".split()
)
MACROS = re.compile(r"(FP|FLT|DBL|LDBL|DECIMAL|INT|UINT|SIZE|PTRDIFF|SIG|WCHAR|WINT|HUGE|M|MATH|X|N)_[A-Z0-9_]*|HUGE|_.*")
# Names made by printers: intermediates, constants, groups of angles.
MADE = re.compile(r"[zcxy]\d+|(angle|sine|cosine)\d*|(derivatives|outputs|constants|table|points|pieces|external)(_\w*)?")


def safe_names(listed: Iterable[Symbol], reserved: Iterable[str] = ()) -> dict[Symbol, str]:
    """An identifier for every symbol: q(b, 4) becomes q_b_4. No two are equal, none is a keyword or reserved."""
    taken = {*KEYWORDS, *LIBRARY, *reserved}
    names: dict[Symbol, str] = {}
    for symbol in listed:
        names[symbol] = identifier(symbol.name, taken)
        taken.add(names[symbol])
    return names


def identifier(name: str, taken: Iterable[str] = ()) -> str:
    """A name as an identifier that is not among those taken."""
    base = re.sub(r"[^A-Za-z0-9_]+", "_", name).rstrip("_")
    if not base or not base[0].isalpha() or MACROS.fullmatch(base) or MADE.fullmatch(base):
        base = f"v_{base.lstrip('_')}"
    chosen, number = base, 2
    while chosen in taken:
        chosen, number = f"{base}_{number}", number + 1
    return chosen


def comment(text: object) -> str:
    """Text for a comment: one line of printable ASCII, nothing that could end or open a comment."""
    line = " ".join(str(text).replace("\\", "/").split())
    plain = "".join(ch if " " <= ch <= "~" else "?" for ch in line)
    return re.sub(r"\?(?=\?)|\*(?=/)|/(?=\*)", lambda m: m[0] + " ", plain)
