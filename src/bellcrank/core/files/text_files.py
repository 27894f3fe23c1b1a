"""Text as it enters files and comes out of them: what is read is decoded or rejected, what is
written is one line."""

from __future__ import annotations

import codecs
import json
import os
import re
import stat
import tomllib
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bellcrank.core.errors import BellcrankError, ModelError, RunError

LARGEST, STREAM = (
    2**31,
    10**8,
)  # bytes of text that are read: of a file, of a pipe or a device, which may not end
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_UNPACKED, _TIMES = (
    2**28,
    100,
)  # bytes that any file may be unpacked to, and times the size of a larger one
_PLAIN = re.compile(r"[ -~]*(?<! )")


def reject_pipe(path: str | Path, error: type[BellcrankError] = RunError) -> None:
    """Rejects a named pipe: who opens one waits until somebody writes to it. Those of the shell are
    in /dev."""
    try:
        pipe = stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):  # reported when it is opened
        return
    if pipe and not str(Path(path).absolute()).startswith(("/dev/", "/proc/")):
        raise error(f"cannot read {path}: it is a pipe, not a file")


def reject_device(path: str | Path, error: type[BellcrankError] = RunError) -> None:
    """Rejects a pipe, and a device, such as /dev/zero, that a link may name: those of numbers are
    read to their end, which need not come."""
    reject_pipe(path, error)
    try:
        device = stat.S_ISCHR(os.stat(path).st_mode)
    except (OSError, ValueError):  # reported when it is opened
        return
    if device:
        raise error(f"cannot read {path}: it is a device, not a file")


def read_text(
    path: str | Path, error: type[BellcrankError] = RunError, otherwise: str | None = None
) -> str:
    """The text of a file: UTF-8, or UTF-16 where its first bytes report it. Line ends are those of
    Unix.

    `otherwise` is the coding of a file that is neither; without one it is rejected.
    """
    path = Path(path)
    reject_pipe(path, error)
    try:
        with path.open("rb") as stream:
            about = os.fstat(stream.fileno())
            max_bytes = LARGEST if stat.S_ISREG(about.st_mode) else STREAM
            data = stream.read(max_bytes + 1) if about.st_size <= max_bytes else None
    except OSError as found:
        raise error(f"cannot read {path}: {found.strerror or found}") from None
    except ValueError as found:  # a name with a NUL
        raise error(f"cannot read {str(path)!r}: {found}") from None
    if data is None or len(data) > max_bytes:
        raise error(f"cannot read {path}: it is larger than {max_bytes // 10**6} MB")
    return decode_text(data, path, error, otherwise)


def max_unpacked_size(size: int) -> int:
    """Bytes that a compressed file of some size may be unpacked to: a small one made to fill the
    memory is rejected."""
    return max(_UNPACKED, _TIMES * size)


def decode_text(
    data: bytes,
    path: str | Path,
    error: type[BellcrankError] = RunError,
    otherwise: str | None = None,
) -> str:
    """Text from the bytes of a file."""
    coding = next((name for mark, name in _MARKS.items() if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(coding)
    except UnicodeDecodeError as found:
        if otherwise is not None and coding == "utf-8":
            return data.decode(otherwise).replace("\r\n", "\n").replace("\r", "\n")
        line = data.count(b"\n", 0, found.start) + 1
        bad_byte = f"byte 0x{data[found.start]:02X}" if found.start < len(data) else "end"
        message = (
            f"its line {line} holds the {bad_byte}, which is not "
            f"{'UTF-16' if coding == 'utf-16' else 'UTF-8'}"
        )
        raise error(f"cannot read {path}: {message}; save it as UTF-8 text") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_toml(path: str | Path, error: type[BellcrankError] = ModelError) -> dict[str, Any]:
    """The content of a TOML file."""
    text = read_text(path, error)
    try:
        return tomllib.loads(text)
    except (
        ValueError,
        RecursionError,
    ) as found:  # also numbers of thousands of digits, and brackets without end
        raise error(f"'{path}' is not a TOML file: {_short_message(found)}") from None


def parse_json(text: str, path: str | Path, error: type[BellcrankError] = RunError) -> Any:
    """What the text of a JSON file says."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as found:
        raise error(f"cannot read {path}: it is no JSON file ({_short_message(found)})") from None


def _short_message(error: BaseException) -> str:
    """What is wrong, without words meant for who writes Python."""
    if isinstance(error, RecursionError):
        return "brackets within brackets, too many"
    text = (str(error).splitlines() or [type(error).__name__])[0]
    return "a number has thousands of digits" if "digits" in text else text


def to_one_line(text: object) -> str:
    """Words for one line of a file: no line ends, tabs, control characters or halves of characters;
    single blanks."""
    words = str(text)
    if _PLAIN.fullmatch(words) and "  " not in words:
        return words.strip()
    characters = (
        " " if unicodedata.category(ch) in ("Cc", "Cs", "Zl", "Zp", "Zs") else ch for ch in words
    )
    return " ".join("".join(characters).split())


def align_columns(lines: Sequence[Sequence[str]], align: str) -> str:
    """Aligned columns of lines, also of none."""
    widths = [max((len(line[i]) for line in lines), default=0) for i in range(len(align))]
    aligned_lines = (
        "  ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(line, align, widths, strict=True)
        )
        for line in lines
    )
    return "\n".join(f"  {line}".rstrip() for line in aligned_lines)
