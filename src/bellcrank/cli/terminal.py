"""Standard output and error of a command: control characters in what is printed are shown, not
obeyed."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from bellcrank.core.errors import escape_unprintable

_alone = threading.RLock()  # output of the command and its progress, which another thread shows
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_alone.acquire, after_in_parent=_alone.release, after_in_child=_alone.release
    )


class PrintableStream:
    """A stream whose text is printable; all else is that of the stream `raw`."""

    over_progress = False  # a line of progress is on the screen, and what is printed replaces it

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    def write(self, text: str) -> int:
        with _alone:
            if PrintableStream.over_progress:
                erase_line()
            self.raw.write(escape_unprintable(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


@contextmanager
def printable_output() -> Iterator[None]:
    """While this lasts, all that is printed is printable."""
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (stream and PrintableStream(stream) for stream in streams)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams


def erase_line(text: str = "") -> None:
    """Shows a text in place of the last line of standard error."""
    stream = getattr(sys.stderr, "raw", sys.stderr)
    if getattr(stream, "closed", False):  # the reader of the output went away
        return
    with _alone:
        PrintableStream.over_progress = bool(text)
        stream.write(f"\r\x1b[K{escape_unprintable(text)}")
        stream.flush()
