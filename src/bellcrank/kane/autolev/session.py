"""A session of the dialect: entries with their answers, and the commands that concern the session
itself.

A mistake changes nothing: the workspace is as it was before the line.
"""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.kane.autolev.assign import run_assignment
from bellcrank.kane.autolev.command_help import (
    COMMANDS,
    FORMS,
    argument_count_error,
    command_forms,
    help_lines,
    what_lines,
)
from bellcrank.kane.autolev.commands import TABLE
from bellcrank.kane.autolev.fortran import ProgramWriter
from bellcrank.kane.autolev.line_parser import AutolevLine, read_line
from bellcrank.kane.autolev.program_layout import ProgramLayout, make_program_layout
from bellcrank.kane.autolev.script_files import ScriptFiles
from bellcrank.kane.autolev.workspace import AutolevWorkspace, autolev_text
from bellcrank.kane.missing_quantities import MissingError

FORMAT = "bellcrank kane workspace"
DEEPEST = 5  # EXEC within EXEC
OF_FILES = ("RECORD", "EXEC", "SAVE", "LOAD")
FORMULA_ONLY = ("ADD", "DERIV", "DOT", "CROSS", "FORCE", "TORQUE", "PE")


@dataclass
class SessionEntry:
    """A line as it was entered, and what was answered."""

    text: str
    answers: list[str] = field(default_factory=list)


class AutolevSession:
    """Takes lines, gives answers."""

    def __init__(self, files: ScriptFiles | None = None) -> None:
        self.files = files or ScriptFiles()
        self.workspace = AutolevWorkspace()
        self.entries: list[SessionEntry] = []
        self.notes: list[str] = []
        self.hints: list[str] = []
        self.over = False
        self._depth = 0
        self._replaying = False
        self._made: tuple[int, str, str, ProgramLayout] | None = (
            None  # the last plan: entries, name, solve
        )

    @property
    def number(self) -> int:
        """The number of the next line."""
        return 1 + sum(1 + len(e.answers) for e in self.entries)

    def run_line(self, text: str) -> list[str]:
        """Carries out a line; its answers. `notes` holds remarks on it. After a ModelError all is
        as it was."""
        self.notes, self.hints = [], []
        line = read_line(text)
        if line.kind == "command" and line.name in self._session_commands():
            if line.name in OF_FILES and len(line.args or ()) != 1:
                raise argument_count_error(line.name, line.args or ())
            return self._session_commands()[line.name](line.args or ())
        snapshot = _WorkspaceSnapshot(self.workspace)
        z_count = len(self.workspace.d.scalars.intermediate)
        self.workspace.notes, self.workspace.hints = [], []
        try:
            answers = self._run_parsed_line(line)
        except MissingError as error:
            snapshot.restore()
            raise ModelError(error.words(dialect=True)) from None
        except BaseException:
            snapshot.restore()
            raise
        scalars = self.workspace.d.scalars
        new = [
            f"{z}={autolev_text(scalars.definitions[z])}" for z in scalars.intermediate[z_count:]
        ]
        self.notes, self.hints = list(self.workspace.notes), list(self.workspace.hints)
        self.entries.append(SessionEntry(text.strip(), [*new, *answers]))
        return self.entries[-1].answers

    def run_lines(
        self, lines: Iterable[str], location: str, margin: str = ""
    ) -> list[tuple[int, str]]:
        """Carries out lines, whose faults are reported with the place; remarks with the numbers of
        their lines."""
        remarks: list[tuple[int, str]] = []
        for number, line in enumerate(lines, 1):
            try:
                self.run_line(line)
            except ModelError as error:
                detail = "\n".join(f"{margin}{x}" for x in str(error).splitlines())
                raise ModelError(f"{location} {number}: {line.strip()}\n{detail}") from None
            remarks += [(number, note) for note in self.notes]
        return remarks

    def _run_parsed_line(self, line: AutolevLine) -> list[str]:
        if line.kind == "nothing":
            return []
        if line.kind == "assign":
            return run_assignment(self.workspace, line)
        if line.name in FORMULA_ONLY:
            raise ModelError(f"{line.name} is used as {COMMANDS[line.name][0]}")
        if line.name == "CODE":
            return self._run_code(line.args or ())
        command = TABLE.get(line.name)
        if command is None:
            value = self.workspace.lookup(line.name)
            if line.args is None and value is not None:
                return [f"{line.name}={autolev_text(value)}"]
            raise ModelError(
                f"there is no command {line.name}.{did_you_mean(line.name, COMMANDS)} WHAT "
                f"lists them."
            )
        return command(line.name, self.workspace, line.args or ())

    def _run_code(self, args: tuple[str, ...]) -> list[str]:
        if not 1 <= len(args) <= 2:
            raise argument_count_error("CODE", args)
        if len(args) == 2 and args[1].upper() != "SUBS":
            raise ModelError(f"'{args[1]}' is not known here; the form is {command_forms('CODE')}")
        if "KANE" not in self.workspace.done:
            raise ModelError("CODE needs KANE first")
        if "/" in args[0]:
            raise ModelError(
                f"'{args[0]}': the program and its files stand in the working directory itself"
            )
        path = self.files.checked_path(args[0].upper(), ".FOR")
        name = path.name.removesuffix(".FOR")
        plan = make_program_layout(self.workspace, name)
        text = ProgramWriter(plan).program_source(with_subroutines=len(args) == 2)
        self.workspace.code = (name, len(args) == 2)
        if not self._replaying:
            self.files.write(path, text)
        self.workspace.notes += plan.notes
        self._made = (len(self.entries) + 1, name, "auto", plan)
        return [f"{path.name}: {text.count(chr(10))} lines"] if not self._replaying else []

    def program_layout(self, name: str, solve: str = "auto") -> ProgramLayout:
        """What a program of this workspace reads and writes; its equations. CODE's name is kept."""
        name = self.workspace.code[0] if self.workspace.code else name
        key = (len(self.entries), name, solve)
        if self._made is None or self._made[:3] != key:
            self._made = (*key, make_program_layout(self.workspace, name, solve))
        return self._made[3]

    # ---- the session itself

    def _session_commands(self) -> dict[str, Callable[[tuple[str, ...]], list[str]]]:
        return {
            "HELP": lambda a: help_lines(a[0] if a else None),
            "WHAT": lambda a: what_lines(),
            "FORMS": lambda a: FORMS.splitlines(),
            "LIST": self._run_list,
            "CLEAR": self._run_clear,
            "QUIT": self._run_quit,
            "EXIT": self._run_quit,
            "RECORD": self._run_record,
            "EXEC": self._run_exec,
            "SAVE": self._run_save,
            "LOAD": self._run_load,
        }

    def listing(self) -> list[str]:
        """Entries and answers, numbered as the dialect does."""
        lines, n = [], 1
        for e in self.entries:
            lines.append(f"   ({n}) {e.text}")
            lines += [f"-> ({n + i}) {a}" for i, a in enumerate(e.answers, 1)]
            n += 1 + len(e.answers)
        return lines

    def _run_list(self, args: tuple[str, ...]) -> list[str]:
        lines = self.listing()
        if not args:
            return lines or ["nothing has been entered"]
        if len(args) > 2 or not all(a.isdecimal() and len(a) < 10 and int(a) >= 1 for a in args):
            raise ModelError(
                "the form is LIST, LIST first or LIST first last, with numbers of lines"
            )
        first, last = int(args[0]), int(args[-1]) if len(args) == 2 else len(lines)
        return lines[first - 1 : last]

    def _run_clear(self, args: tuple[str, ...]) -> list[str]:
        self.workspace, self.entries, self._made = AutolevWorkspace(), [], None
        return ["the workspace is empty"]

    def _run_quit(self, args: tuple[str, ...]) -> list[str]:
        self.over = True
        return []

    def _run_record(self, args: tuple[str, ...]) -> list[str]:
        path = self.files.checked_path(args[0], ".al")
        self.files.write(path, "".join(f"{e.text}\n" for e in self.entries))
        return [f"{len(self.entries)} lines in {path.name}"]

    def _run_exec(self, args: tuple[str, ...]) -> list[str]:
        path = self.files.checked_path(args[0], ".al")
        text = self.files.read(path)
        if self._depth >= DEEPEST:
            raise ModelError(f"EXEC within EXEC goes deeper than {DEEPEST} files")
        snapshot, entries = _WorkspaceSnapshot(self.workspace), list(self.entries)
        start = len(self.listing())
        self._depth += 1
        try:
            remarks = self.run_lines(text.splitlines(), f"{path.name}, line")
        except BaseException:
            snapshot.restore()
            self.entries, self._made = entries, None
            raise
        finally:
            self._depth -= 1
        self.notes = [note for _, note in remarks]
        return self.listing()[start:]

    def _run_save(self, args: tuple[str, ...]) -> list[str]:
        path, words = (
            self.files.checked_path(args[0], ".sav"),
            self.files.checked_path(args[0], ".wrk"),
        )
        data = {"format": FORMAT, "version": 1, "lines": [e.text for e in self.entries]}
        self.files.write(path, json.dumps(data, indent=1) + "\n")
        self.files.write(words, "\n".join(self.listing()) + "\n")
        return [f"{len(self.entries)} entries in {path.name}, with their answers in {words.name}"]

    def _run_load(self, args: tuple[str, ...]) -> list[str]:
        path = self.files.checked_path(args[0], ".sav")
        lines = _saved_lines(self.files.read(path), path)
        fresh = AutolevSession(self.files)
        fresh._replaying = True
        fresh.run_lines(lines, f"{path.name}, entry")
        self.workspace, self.entries, self._made = fresh.workspace, fresh.entries, None
        return [f"{len(lines)} entries from {path.name}"]


def _saved_lines(text: str, path: Path) -> list[str]:
    try:
        data = json.loads(text)
        lines = data["lines"] if data["format"] == FORMAT and data["version"] == 1 else None
    except (ValueError, KeyError, TypeError, RecursionError):
        lines = None
    if not isinstance(lines, list) or not all(isinstance(x, str) for x in lines):
        raise ModelError(f"{path.name} is not a workspace that SAVE wrote")
    return lines


class _WorkspaceSnapshot:
    """A workspace as it was: tables and lists are copied, what they hold is not changed in place
    (frames apart)."""

    def __init__(self, w: AutolevWorkspace) -> None:
        owners = (w, w.d, w.d.scalars, w.d.motion, w.d.machine, w.d.notes)
        self.tables = [
            (o, name, copy.copy(v))
            for o in owners
            for name, v in vars(o).items()
            if _is_copyable(v)
        ]
        self.frames = [(f, dict(vars(f)), dict(f._dots)) for f in w.d.motion.frames]

    def restore(self) -> None:
        for owner, name, value in self.tables:
            setattr(owner, name, value)
        for frame, attributes, dots in self.frames:
            vars(frame).update(attributes)
            frame._dots.clear()
            frame._dots.update(dots)


def _is_copyable(value: object) -> bool:
    return value is None or isinstance(value, dict | list | set | tuple | int | str)


def run_script(text: str, source: str, files: ScriptFiles) -> AutolevSession:
    """Enters all lines of a script; a fault stops with the number of its line, and nothing is
    written."""
    session = AutolevSession(files)
    lines = itertools.takewhile(lambda _: not session.over, text.splitlines())
    session.notes = [
        f"line {n}: {note}" for n, note in session.run_lines(lines, f"{source}, line", margin="  ")
    ]
    return session
