"""Progress: what takes longer than a second is reported on stderr."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Any

from bellcrank.cli.terminal import erase_line


class Progress:
    """Says on stderr what takes longer than a second, if a person is watching."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._share: float | None = None
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self._shown = False

    def tell(self, share: float, *_: Any) -> None:
        """Takes note of the share done."""
        self._share = float(share)

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            self._thread = threading.Thread(target=self._show, daemon=True)
            self._thread.start()
        return self

    def _show(self) -> None:
        start = time.perf_counter()
        wait = 1.0
        while not self._done.wait(wait):
            wait = 0.25
            erase_line(self.line(time.perf_counter() - start))
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
        self._done.set()
        if self._thread is not None:
            self._thread.join()
        if self._shown:
            erase_line()
