"""Text and numbers inside a page: nothing of them can end the element that they stand in."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bellcrank.core.files.text_files import to_one_line

LEVELS = (3, 6)  # memory of zlib, little: the less, the sooner it takes other tables
BITS, DIGITS = 13, 91  # two digits have so many bits
_STRINGS = r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`'
# not within words, + + and - -
_AROUND = r"(?<![\w$+-]) | (?![\w$+-])|(?<=[\w$]) (?=[+-])|(?<=[+-]) (?=[\w$])"
_SPACE = re.compile(rf"({_STRINGS})|{_AROUND}|(?<=[;{{,])\n|\n(?=}})")


def page_text(text: Any) -> str:
    """Text for a page: one line without control characters."""
    return "".join(
        ch if ch.isprintable() else "\N{REPLACEMENT CHARACTER}" for ch in to_one_line(text)
    )


def to_json_bytes(facts: Mapping[str, Any]) -> bytes:
    """JSON, to be packed: of its text nothing stands in the page."""
    return json.dumps(facts, separators=(",", ":"), allow_nan=False, ensure_ascii=False).encode()


def pack_text(chunks: Sequence[bytes]) -> tuple[str, int]:
    """Bytes as text, about a third as long for a program, and how many bytes it stands for: two
    characters for 13 bits (|, } and ~ in place of the three that mean something in a page)."""
    small = b"".join(compress_part(part, i == len(chunks)) for i, part in enumerate(chunks, 1))
    bits = np.unpackbits(np.frombuffer(small + b"\0\0", np.uint8))
    pairs = bits[: len(bits) // BITS * BITS].reshape(-1, BITS) @ (1 << np.arange(BITS)[::-1])
    digits = np.stack(np.divmod(pairs, DIGITS), axis=1).ravel().astype(np.uint8) + 33
    return digits.tobytes().decode().translate(str.maketrans('"&<', "|}~")), len(small)


def compress_part(part: bytes, last: bool = False) -> bytes:
    """A part of a stream of zlib."""
    results = []
    for level in LEVELS:
        compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, level)
        results.append(
            compressor.compress(part)
            + compressor.flush(zlib.Z_FINISH if last else zlib.Z_FULL_FLUSH)
        )
    return min(results, key=len)


def minify_script(text: str) -> str:
    """Text of a program of the house without its comments, on lines of their own or two spaces
    behind one, and without space that says nothing."""
    lines = (line.split("  // ")[0].strip() for line in text.splitlines())
    code = "".join(f"{line}\n" for line in lines if line and not line.startswith("//"))
    return _SPACE.sub(lambda found: found[1] or "", code)


def minify_style(text: str) -> str:
    """A style sheet without the space that says nothing: about braces, semicolons and commas, and
    after colons."""
    return re.sub(r"\s*([{};,])\s*|(?<=:) ", lambda found: found[1] or "", text)
