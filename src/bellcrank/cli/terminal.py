"""Standard output and error of a command: control characters in what is printed are shown, not obeyed."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from bellcrank.errors import printable


class Shown:
    """A stream whose text is printable; all else is that of the stream `raw`."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    def write(self, text: str) -> int:
        self.raw.write(printable(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


@contextmanager
def shown() -> Iterator[None]:
    """While this lasts, all that is printed is printable."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (stream and Shown(stream) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def erase_line(text: str = "") -> None:
    """Shows a text in place of the last line of standard error."""
    stream = getattr(sys.stderr, "raw", sys.stderr)
    stream.write(f"\r\x1b[K{printable(text)}")
    stream.flush()
