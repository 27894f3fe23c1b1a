"""Signals while C runs and calls Python back: none is lost, and none goes through C.

Python handles a signal as soon as it runs again, which may be at the door of a callback, where what
a handler raises (KeyboardInterrupt) is dropped by ctypes. So while C runs, handlers wait: they are
called within a callback, where what they raise is kept and ends the run, or when C has returned.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import TypeVar, TypeVarTuple, Unpack

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")

_HANDLED = tuple(
    getattr(signal, name)
    for name in (
        "SIGINT",
        "SIGTERM",
        "SIGHUP",
        "SIGALRM",
        "SIGVTALRM",
        "SIGPROF",
        "SIGUSR1",
        "SIGUSR2",
    )
    if hasattr(signal, name)
)  # those for which people set handlers


class DeferredSignals:
    """While this context lasts, handlers of signals wait, but where `is_in_python` is true."""

    def __init__(self) -> None:
        self.is_in_python = False
        self._raised: BaseException | None = None  # by a handler within a callback
        self._handlers: dict[int, Callable[[int, FrameType | None], object]] = {}
        self._noted: list[tuple[int, FrameType | None]] = []

    def __enter__(self) -> DeferredSignals:
        if threading.current_thread() is threading.main_thread():
            for number in _HANDLED:
                handler = signal.getsignal(number)
                if callable(handler):
                    self._handlers[number] = handler
                    signal.signal(number, self._note_signal)
        return self

    def _note_signal(self, number: int, frame: FrameType | None) -> None:
        if not self.is_in_python:
            self._noted.append((number, frame))
            return
        try:
            self._handlers[number](number, frame)
        except BaseException as error:
            self._raised = error
            raise

    def signal_error(self, error: BaseException) -> BaseException:
        """What a handler raised, if this error came of it: a routine that a signal ends has not
        failed."""
        cause: BaseException | None = error
        while cause is not None and cause is not self._raised:
            cause = cause.__cause__ or cause.__context__
        return error if cause is None else cause

    def run_pending_handlers(self) -> None:
        """Calls the handlers that wait, which may raise."""
        while self._noted:
            number, frame = self._noted.pop(0)
            self._handlers[number](number, frame)

    def __exit__(self, *_: object) -> None:
        for number in reversed(
            self._handlers
        ):  # that of Ctrl-C, which may come at any time, is the last
            signal.signal(number, self._handlers[number])
        self.run_pending_handlers()


class PythonCallbacks(threading.local):
    """Functions of Python that C calls: what one raises is kept, C is reported to end, and `call_c`
    raises it.

    Each thread has its own. Where C was not called by `call_c`, nobody asks for what was raised: it
    is not kept.
    """

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.deferred_signals: DeferredSignals | None = None

    def run_guarded(self, work: Callable[[Unpack[Arguments]], None], *arguments: *Arguments) -> int:
        """Does the work of a callback; 1 if C has to end."""
        deferred = self.deferred_signals
        if self.error is not None:
            return 1
        try:
            if deferred is not None:
                deferred.is_in_python = True
                deferred.run_pending_handlers()
            work(*arguments)
            if deferred is not None:
                deferred.is_in_python = False
        except (
            BaseException
        ) as error:  # an exception cannot pass through C: it is raised when C has returned
            if deferred is not None:
                deferred.is_in_python = False
            self.error = None if deferred is None else deferred.signal_error(error)
            return 1
        return 0

    def call_c(self, call: Callable[[], Result]) -> Result:
        """Calls C, which calls back; raises what a callback or the handler of a signal raised."""
        outer = self.deferred_signals
        with DeferredSignals() as self.deferred_signals:
            try:
                result = call()
            finally:
                self.deferred_signals = outer
            if self.error is not None:
                error, self.error = self.error, None
                raise error
        return result
