"""Progress: what takes longer than a second is reported on stderr."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Any, ClassVar

from bellcrank.cli.terminal import erase_line

QUIET, EVERY = 1.0, 0.25  # s before the first line, and between lines


class Progress:
    """Says on stderr what takes longer than a second, if a person is watching. The innermost of several speaks."""

    _open: ClassVar[list[Progress]] = []

    def __init__(self, what: str) -> None:
        self.what = what
        self._share: float | None = None
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self._shown = False

    def report(self, share: float, *_: Any) -> None:
        """Takes note of the share done."""
        self._share = float(share)

    def report_next(self, share: float, what: str) -> None:
        """Takes note of the fraction done, and of what is driven next."""
        self.what = f"driving {what}"
        self.report(share)

    def __enter__(self) -> Progress:
        self._open.append(self)
        if sys.stderr.isatty():
            self._thread = threading.Thread(target=self._show, daemon=True)
            self._thread.start()
        return self

    def _show(self) -> None:
        start = quiet = time.perf_counter()
        while not self._done.wait(EVERY):
            now = time.perf_counter()
            if self._open[-1:] != [self]:
                quiet = now
            elif now - quiet >= QUIET:
                erase_line(self.line(now - start))
                self._shown = True

    def line(self, elapsed: float) -> str:
        """What is reported after some seconds."""
        share = self._share or 0.0
        told = "" if self._share is None else f" {100 * share:.0f} %,"
        left = f", {elapsed * (1 / share - 1):.0f} s left" if share > 0.01 else ""
        return f"{self.what} ...{told} {elapsed:.0f} s{left}"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.remove(self)
        self._done.set()
        if self._thread is not None:
            self._thread.join()
        if self._shown:
            erase_line()
