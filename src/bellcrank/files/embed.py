"""Text and numbers inside a page: nothing of them can end the element that they stand in."""

from __future__ import annotations

import json
import re
import zlib
from base64 import a85encode
from collections.abc import Mapping
from typing import Any

from bellcrank.files.text import one_line

BLOCKS = 5  # memory of zlib: little, so that text and programs have tables of their own


def plain(text: Any) -> str:
    """Text for a page: one line without control characters."""
    return "".join(ch if ch.isprintable() else "\N{REPLACEMENT CHARACTER}" for ch in one_line(text))


def as_json(facts: Mapping[str, Any]) -> bytes:
    """JSON, to be packed: of its text nothing stands in the page."""
    return json.dumps(facts, separators=(",", ":"), allow_nan=False, ensure_ascii=False).encode()


def packed(content: bytes) -> tuple[str, int]:
    """Bytes as text, about a third as long for a program, and how many bytes it stands for: five characters for four of
    them (Ascii85, v, w and x in place of the three that mean something in a page)."""
    how = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, BLOCKS)
    small = how.compress(content) + how.flush()
    text = a85encode(small + b"\0" * (-len(small) % 4)).decode().replace("z", "!!!!!")
    return text.translate(str.maketrans('"&<', "vwx")), len(small)


def short_script(text: str) -> str:
    """Text of a program of the house without its comments, on lines of their own or two spaces behind one, and without
    margins."""
    lines = (line.split("  // ")[0].strip() for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("//"))


def short_style(text: str) -> str:
    """A style sheet without the space that says nothing: about braces, semicolons and commas, and after colons."""
    return re.sub(r"\s*([{};,])\s*|(?<=:) ", lambda found: found[1] or "", text)
