"""Other programs, run with a time limit: they end with all they have started when it is over, or when we end."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bellcrank.backend.interrupts import Waiting
from bellcrank.errors import BuildError

LIMIT = "BELLCRANK_COMPILE_SECONDS"
SECONDS = 3600.0  # a compiler may take, unless the environment says otherwise


class TooLong(Exception):
    """The time is over."""


@dataclass(frozen=True)
class Finished:
    """How a program ended: exit code, and what it said."""

    code: int
    output: str
    errors: str


def seconds_for_compilers() -> float | None:
    """The time limit of a compiler: BELLCRANK_COMPILE_SECONDS, where 0 means none."""
    named = os.environ.get(LIMIT, "").strip()
    try:
        seconds = float(named) if named else SECONDS
    except ValueError:
        seconds = -1.0
    if not seconds >= 0.0:
        raise BuildError(f"{LIMIT}={named!r} must be a number of seconds, or 0 for no limit")
    return seconds or None


def run_program(command: Sequence[str], seconds: float | None, folder: Path | None = None) -> Finished:
    """Runs a program until it ends; OSError if it cannot be started, `TooLong` if it takes longer.

    It gets no input, and files for what it says: with pipes, a helper that it leaves running would be waited for.
    """
    own_group = {"start_new_session": True} if os.name == "posix" else {}
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = None
        try:
            with Waiting():  # an interrupt within it would leave a program that nobody knows
                process = subprocess.Popen(  # type: ignore[call-overload]
                    command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, cwd=folder, **own_group
                )
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise TooLong from None
        finally:
            if process is not None and process.returncode is None:
                _end(process)
        output.seek(0)
        errors.seek(0)
        said = [stream.read().decode("utf-8", "replace") for stream in (output, errors)]
        return Finished(process.returncode, *said)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a program with all it has started."""
    try:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except ProcessLookupError:
        pass
    process.wait()
