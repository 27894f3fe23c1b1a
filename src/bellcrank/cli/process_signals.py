"""The command as a process: Ctrl-C is never lost, SIGTERM and SIGHUP are handled like it, and what
is printed never fails for want of a letter."""

from __future__ import annotations

import atexit
import gc
import io
import os
import signal
import sys
import time
from _thread import start_new_thread
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from bellcrank.cli.codes import SIGNALLED

RESEND_INTERVAL = 0.001  # s
SIGNAL_MESSAGES = {
    "SIGINT": "interrupted",
    "SIGTERM": "terminated",
    "SIGHUP": "the terminal was closed",
}
_came = [int(signal.SIGINT)]  # the last signal that ended the command


def _raise_interrupt(number: int, _frame: Any) -> None:
    """Batch systems send SIGTERM: what is under way is cleaned up as after Ctrl-C."""
    _came[0] = number
    raise KeyboardInterrupt


def signal_exit_code() -> int:
    """Says by which signal the command was ended; returns its exit code."""
    number = _came[0]
    print(SIGNAL_MESSAGES[signal.Signals(number).name], file=sys.stderr)
    return SIGNALLED + number


@contextmanager
def signal_handling() -> Iterator[None]:
    """While a command continues."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by who called
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="backslashreplace"
            )  # a terminal may not know a unit or a Greek letter
    _came[0] = int(signal.SIGINT)
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if (
            number is not None and signal.getsignal(number) is signal.SIG_DFL
        ):  # nohup has it ignored
            signal.signal(number, _raise_interrupt)
    previous_hook = sys.unraisablehook

    def resend_lost_interrupt(lost: Any) -> None:
        """Python drops what is raised while it clears away objects: an interrupt that comes then,
        comes again."""
        if not isinstance(lost.exc_value, KeyboardInterrupt):
            previous_hook(lost)
            return
        returned: list[
            bool
        ] = []  # an interrupt that came while this continues would be dropped too, with a word
        start_new_thread(_repeat_signal, (returned,))
        returned.append(True)

    sys.unraisablehook = resend_lost_interrupt
    try:
        yield
    finally:
        sys.unraisablehook = previous_hook


def _repeat_signal(returned: list[bool]) -> None:
    while not returned:
        time.sleep(RESEND_INTERVAL)
    time.sleep(RESEND_INTERVAL)
    os.kill(os.getpid(), _came[0])


def exit_process(code: int) -> int:
    """Nothing is left to do: another Ctrl-C ends the process without a word.

    One that was interrupted ends here, with what is to be done at the end of a process: where an
    interrupt came while Python executed a text of its own, it would end itself by a signal in the
    place of an exit code.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    gc.freeze()  # all memory is given back at once: no search for cycles in it
    if code > SIGNALLED:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        atexit._run_exitfuncs()
        os._exit(code)
    return code
