"""The interactive session at a terminal: prompt, history, completion, answers. A mistake is
reported and nothing ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType

from bellcrank.core.errors import BellcrankError, InternalError
from bellcrank.core.files.atomic import AtomicWrite
from bellcrank.kane.autolev.command_help import COMMANDS
from bellcrank.kane.autolev.script_files import ScriptFiles
from bellcrank.kane.autolev.session import AutolevSession

HISTORY = 1000  # lines


def run_dialogue(
    session: AutolevSession, read: Callable[[str], str], write: Callable[[str], None]
) -> None:
    """Reads lines until QUIT or the end of the input; Ctrl-C gives up a line, or a long answer, and
    no more."""
    while not session.over:
        try:
            answer_line(session, read(f"({session.number}) "), write)
        except EOFError:
            write("")
            return
        except KeyboardInterrupt:
            write("")


def answer_line(session: AutolevSession, line: str, write: Callable[[str], None]) -> None:
    """Enters a line and writes what it gives, or what is wrong with it."""
    first, entry_count = session.number, len(session.entries)
    try:
        answers = session.run_line(line)
    except BellcrankError as error:
        write(
            "\n".join(
                f"?? {text}" if i == 0 else f"   {text}"
                for i, text in enumerate(str(error).splitlines())
            )
        )
        return
    except KeyboardInterrupt:
        write("interrupted; the workspace is as it was")
        return
    except Exception as error:  # a fault of ours must not cost the user the session
        write(f"?? {InternalError(f'{type(error).__name__}: {error}')}")
        return
    entered = len(session.entries) == entry_count + 1 and answers is session.entries[-1].answers
    for i, answer in enumerate(answers, 1):
        write(f"-> ({first + i}) {answer}" if entered else answer)
    for note in (*session.notes, *session.hints):
        write(f"note: {note}")


def run_console(folder: str | Path = ".", greeting: bool = True) -> AutolevSession:
    """A session on standard input and output, with history and completion where the terminal has
    them."""
    session = AutolevSession(ScriptFiles(folder))
    library = _setup_readline(session) if sys.stdin.isatty() else None
    if greeting and sys.stdin.isatty():
        print(
            "Bellcrank: Kane's method by hand. HELP explains, WHAT lists the commands, QUIT leaves."
        )
    try:
        run_dialogue(session, input if sys.stdin.isatty() else _read_and_echo, print)
    finally:
        if library is not None:
            _save_history(library)
    return session


def _read_and_echo(prompt: str) -> str:
    """A line that nobody typed: shown, so that what is written reads like a session."""
    line = input()
    print(f"{prompt}{line}")
    return line


def history_path() -> Path | None:
    """Where lines are kept from one session to the next; BELLCRANK_HISTORY names another place,
    empty for none."""
    variable = os.environ.get("BELLCRANK_HISTORY")
    if variable is not None:
        return Path(variable) if variable else None
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(
        os.path.expanduser("~"), ".local", "state"
    )
    if not os.path.isabs(state):  # a user without home
        return None
    return Path(state) / "bellcrank" / "kane_history"


def _setup_readline(session: AutolevSession) -> ModuleType | None:
    try:
        import readline
    except ImportError:  # not everywhere; the session works without
        return None
    path = history_path()
    readline.set_history_length(HISTORY)
    if path is not None and path.exists():
        with suppress(OSError):
            readline.read_history_file(path)

    def complete(text: str, state: int) -> str | None:
        listed = sorted({*COMMANDS, *session.workspace.known_names()})
        matches = [n for n in listed if n.startswith(text.upper())]
        return matches[state] if state < len(matches) else None

    readline.set_completer(complete)
    readline.set_completer_delims(" \t\n()=+-*/^,'")
    readline.parse_and_bind("tab: complete")
    return readline


def _save_history(library: ModuleType) -> None:
    path = history_path()
    if path is None:
        return
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with AtomicWrite(own=True) as partial_files:
            library.write_history_file(partial_files.path_for(path))
