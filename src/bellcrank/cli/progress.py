"""Progress: what takes longer than a second is reported on stderr."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Any, ClassVar

from bellcrank.cli.terminal import erase_line

QUIET, EVERY = 1.0, 0.25  # s before the first line, and between lines


class ProgressReporter:
    """Says on stderr what takes longer than a second, if a person is watching. The innermost of
    several speaks."""

    _open: ClassVar[list[ProgressReporter]] = []

    def __init__(self, task: str) -> None:
        self.what = task
        self._share: float | None = None
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self._shown = False

    def set_fraction(self, share: float, *_: Any) -> None:
        """Takes note of the share done."""
        self._share = float(share)

    def report_next(self, share: float, name: str) -> None:
        """Takes note of the fraction done, and of what is driven next."""
        self.what = f"driving {name}"
        self.set_fraction(share)

    def __enter__(self) -> ProgressReporter:
        self._open.append(self)
        if sys.stderr.isatty():
            self._thread = threading.Thread(target=self._report_loop, daemon=True)
            self._thread.start()
        return self

    def _report_loop(self) -> None:
        start = quiet = time.perf_counter()
        while not self._done.wait(EVERY):
            current_time = time.perf_counter()
            if self._open[-1:] != [self]:
                quiet = current_time
            elif current_time - quiet >= QUIET:
                erase_line(self.status_line(current_time - start))
                self._shown = True

    def status_line(self, elapsed: float) -> str:
        """What is reported after some seconds."""
        share = self._share or 0.0
        percent_text = "" if self._share is None else f" {100 * share:.0f} %,"
        remaining_text = f", {elapsed * (1 / share - 1):.0f} s left" if share > 0.01 else ""
        return f"{self.what} ...{percent_text} {elapsed:.0f} s{remaining_text}"

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.remove(self)
        self._done.set()
        if self._thread is not None:
            self._thread.join()
        if self._shown:
            erase_line()
