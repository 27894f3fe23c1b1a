"""Other programs, run with a time limit: they end with all they have started when it is over, or
when we end."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bellcrank.core.errors import BuildError
from bellcrank.simulation.backend.interrupts import DeferredSignals

LIMIT = "BELLCRANK_COMPILE_SECONDS"
SECONDS = 3600.0  # a compiler may take, unless the environment says otherwise
NICE = "5"  # of programs that run next to us: a quarter of a core that others want


# Runs a command without input, in a group of processes that is killed as soon as standard input
# ends.
_WATCHED = """
exec 3<&0 </dev/null
{ read -r x <&3; kill -KILL 0; } >/dev/null 2>&1 &
watcher=$!
"$@" 3<&-
code=$?
{ kill -KILL $watcher; wait $watcher; } 2>/dev/null
exit $code
"""


class ProcessTimeout(Exception):
    """The time is over."""


class ProcessTerminated(Exception):
    """The program was to end."""


class BackgroundProcess:
    """A place for programs that run next to us, one at a time, at low priority, until `terminate`
    is called by any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._over = threading.Event()

    def low_priority_command(self, command: Sequence[str]) -> list[str]:
        """What runs a command at low priority, where that can be had."""
        nice = shutil.which("nice") if os.name == "posix" else None
        return [*([] if nice is None else [nice, "-n", NICE]), *command]

    def attach(self, process: subprocess.Popen[bytes]) -> None:
        """Takes a program that has begun."""
        with self._lock:
            self._process = process
            if self._over.is_set():
                _kill(process)

    def raise_if_ended(self) -> None:
        """Raises `ProcessTerminated` after the end."""
        if self._over.is_set():
            raise ProcessTerminated

    def terminate(self) -> None:
        """Ends what is there with all it has started, and what comes."""
        with self._lock:
            self._over.set()
            if self._process is not None and self._process.poll() is None:
                _kill(self._process)


@dataclass(frozen=True)
class ProcessResult:
    """How a program ended: exit code, and what it said."""

    code: int
    output: str
    errors: str


def compile_time_limit() -> float | None:
    """The time limit of a compiler: BELLCRANK_COMPILE_SECONDS, where 0 means none."""
    text = os.environ.get(LIMIT, "").strip()
    try:
        seconds = float(text) if text else SECONDS
    except ValueError:
        seconds = -1.0
    if not seconds >= 0.0:
        raise BuildError(f"{LIMIT}={text!r} must be a number of seconds, or 0 for no limit")
    return seconds or None


def run_program(
    command: Sequence[str],
    seconds: float | None,
    folder: Path | None = None,
    background_process: BackgroundProcess | None = None,
) -> ProcessResult:
    """Runs a program until it ends; OSError if it cannot be started, `ProcessTimeout` if it takes
    longer,
    `ProcessTerminated` if `background_process`, in which it runs, is ended.

    It gets no input, and files for what it says: with pipes, a helper that it leaves running would
    be waited for. However this process ends, the program ends with it: a shell waits for the end of
    a pipe that we hold.
    """
    shell = shutil.which("sh") if os.name == "posix" else None
    own_group = {"start_new_session": True} if os.name == "posix" else {}
    command = (
        command if background_process is None else background_process.low_priority_command(command)
    )
    env = (
        None if folder is None else {**os.environ, "TMPDIR": str(folder)}
    )  # what a killed one leaves goes with it
    if (
        shell is not None and shutil.which(command[0]) is None
    ):  # said by a shell, it would be an exit code
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command[0])
    watched_command = command if shell is None else [shell, "-c", _WATCHED, shell, *command]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = None
        try:
            with (
                DeferredSignals()
            ):  # an interrupt within it would leave a program that nobody knows
                process = subprocess.Popen(  # type: ignore[call-overload]
                    watched_command,
                    stdin=subprocess.DEVNULL if shell is None else subprocess.PIPE,
                    stdout=output,
                    stderr=errors,
                    cwd=folder,
                    env=env,
                    **own_group,
                )
            if background_process is not None:
                background_process.attach(process)
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise ProcessTimeout from None
        finally:
            if process is not None:
                if process.returncode is None:
                    _terminate(process)
                if process.stdin is not None:
                    process.stdin.close()
        if background_process is not None:
            background_process.raise_if_ended()
        output.seek(0)
        errors.seek(0)
        texts = [stream.read().decode("utf-8", "replace") for stream in (output, errors)]
        return ProcessResult(process.returncode, *texts)


def _terminate(process: subprocess.Popen[bytes]) -> None:
    """Ends a program with all it has started."""
    _kill(process)
    process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    try:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except ProcessLookupError:
        pass
