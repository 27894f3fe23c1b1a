"""Text as it enters files and comes out of them: what is read is decoded or refused, what is written is one line."""

from __future__ import annotations

import codecs
import json
import re
import tomllib
import unicodedata
from pathlib import Path
from typing import Any

from bellcrank.errors import BellcrankError, ModelError, RunError

LARGEST = 2**31  # bytes of a file of text
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_PLAIN = re.compile(r"[ -~]*(?<! )")


def read_text(path: str | Path, error: type[BellcrankError] = RunError) -> str:
    """The text of a file: UTF-8, or UTF-16 where its first bytes say so. Line ends are those of Unix."""
    path = Path(path)
    try:
        if path.stat().st_size > LARGEST:
            raise error(f"cannot read {path}: it is larger than {LARGEST // 10**9} GB")
        data = path.read_bytes()
    except OSError as found:
        raise error(f"cannot read {path}: {found.strerror or found}") from None
    except ValueError as found:  # a name with a NUL
        raise error(f"cannot read {str(path)!r}: {found}") from None
    return decoded(data, path, error)


def decoded(data: bytes, path: str | Path, error: type[BellcrankError] = RunError) -> str:
    """Text from the bytes of a file."""
    coding = next((name for mark, name in _MARKS.items() if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(coding)
    except UnicodeDecodeError as found:
        line = data.count(b"\n", 0, found.start) + 1
        wrong = f"byte 0x{data[found.start]:02X}" if found.start < len(data) else "end"
        told = f"its line {line} holds the {wrong}, which is not {'UTF-16' if coding == 'utf-16' else 'UTF-8'}"
        raise error(f"cannot read {path}: {told}; save it as UTF-8 text") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_toml(path: str | Path, error: type[BellcrankError] = ModelError) -> dict[str, Any]:
    """The content of a TOML file."""
    text = read_text(path, error)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as found:  # also numbers of thousands of digits, and brackets without end
        raise error(f"'{path}' is not a TOML file: {_first(found)}") from None


def json_of(text: str, path: str | Path, error: type[BellcrankError] = RunError) -> Any:
    """What the text of a JSON file says."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as found:
        raise error(f"cannot read {path}: it is no JSON file ({_first(found)})") from None


def _first(error: BaseException) -> str:
    return "brackets within brackets, too many" if isinstance(error, RecursionError) else str(error).splitlines()[0]


def one_line(text: object) -> str:
    """Words for one line of a file: no line ends, tabs, control characters or halves of characters; single blanks."""
    words = str(text)
    if _PLAIN.fullmatch(words) and "  " not in words:
        return words.strip()
    kept = (" " if unicodedata.category(ch) in ("Cc", "Cs", "Zl", "Zp", "Zs") else ch for ch in words)
    return " ".join("".join(kept).split())
