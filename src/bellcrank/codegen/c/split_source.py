"""A long source that may be compiled as a whole or in two halves, next to each other, with the same
functions and bits.

Long functions next to the rates (outputs, slopes) are the second half; what they call stands in
both, and holds no variables but numbers of tables, which are set in both. A compiler that defines
`HALF` as 1 or 2 sees that half alone.
"""

from __future__ import annotations

from collections.abc import Iterable

HALF = "BELLCRANK_HALF"
MIN_SPLIT_LENGTH = 60_000  # characters of a function that is worth a compiler of its own
FIRST, SECOND, END = f"#if {HALF} != 2", f"#if {HALF} != 1", "#endif"


def is_long(text: str) -> bool:
    """Is the text of a function worth a compiler of its own?"""
    return len(text) > MIN_SPLIT_LENGTH


def first_half(segments: Iterable[str]) -> str:
    """Text of the first half."""
    return "\n".join((FIRST, *(p for p in segments if p), END, ""))


def second_half(name: str, text: str) -> str:
    """A function of the second half; the first one knows how it is called."""
    head = text[text.index(f"EXPORT void {name}(") :].partition("\n{")[0]
    return "\n".join((SECOND, text, "#else", f"{head};", END, ""))


def is_split(source: str) -> bool:
    return SECOND in source
