"""Files that are written whole or not at all: next to their place, and moved there when all of a
result is written.

A process that is interrupted or killed, or a disk that is full, leaves what stood there before.
What is written is hidden (.NAME.part) and locked by who writes it, so that the leavings of a
process that was killed are found, and used up, by the next that writes the same file.

The files of one result take their places one after another, in the order in which they were asked
for. A process that is killed between two of them leaves the others whole under their hidden names
(`interrupted_writes`), and removes nothing before all of them stand.
"""

from __future__ import annotations

import os
import shutil
import signal
import stat
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from glob import escape
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from bellcrank.core.files.locks import LOCKS, try_lock

NAME = 200  # bytes of a name that the hidden one keeps: names end at 255
UNFINISHED = "UNFINISHED-EXPORT.txt"
_UNFINISHED_TEXT = (
    "An export into this folder was interrupted: some files are of the old result, others of the "
    "new one. Export again.\n"
)
DEVICES = ("/dev/", "/proc/")
_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


class WriteGuard(Protocol):
    """Decides which files may be replaced, and remembers what was written."""

    def check_writable(self, path: Path) -> None:
        """Raises an error if what is at a place must stay."""

    def record_write(self, path: Path, part: Path) -> None:
        """A part is about to take its place."""


_guard: ContextVar[WriteGuard | None] = ContextVar("guard", default=None)


@contextmanager
def use_write_guard(guard: WriteGuard) -> Iterator[None]:
    """While this lasts, no file is replaced that a guard wants to stay."""
    token = _guard.set(guard)
    try:
        yield
    finally:
        _guard.reset(token)


class AtomicWrite:
    """The files of one result, none of which takes its place before all are written. Use as a
    context. The file that names the others comes first.

    `sync=False`: for files that can be made again, which need not be on the disk itself when this
    ends. `own`: for records of Bellcrank itself, which no guard looks at. `note`: a file that
    stands there while a folder holds files of two results.
    """

    def __init__(self, sync: bool = True, own: bool = False, note: Path | None = None) -> None:
        self._sync, self._guard = sync, None if own else _guard.get()
        self._open: list[tuple[Path, Path, int]] = []  # hidden file, its place, what holds its lock
        self._note = note
        self._stale: list[Path] = []
        self._moved = False  # has a file taken its place?

    def path_for(self, path: str | Path) -> Path:
        """Where to write a file: next to its place, or there where that is a device, a pipe or a
        folder."""
        with suppress(FileNotFoundError):
            if str(Path(path).absolute()).startswith(DEVICES) or not stat.S_ISREG(
                os.stat(path).st_mode
            ):
                return Path(path)
        target = Path(os.path.realpath(path))  # of a link: what it names
        if self._guard is not None:
            self._guard.check_writable(target)
        with defer_signals():  # what is made is known
            part, descriptor = _claim_temporary(target)
            self._open.append((part, target, descriptor))
        if descriptor >= 0:
            os.ftruncate(descriptor, 0)
            with suppress(OSError):  # a file keeps its mode
                os.fchmod(descriptor, stat.S_IMODE(target.stat().st_mode))
        return part

    def remove(self, path: Path) -> None:
        """Removes a file of an earlier result as soon as all of this one has its place."""
        if path.is_file():
            if self._guard is not None:
                self._guard.check_writable(path)
            self._stale.append(path)

    def __enter__(self) -> AtomicWrite:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            if kind is None:
                if self._sync:
                    for _, _, descriptor in self._open:
                        if descriptor >= 0:
                            os.fsync(descriptor)
                with defer_signals():
                    self._move_to_places()
        finally:
            with defer_signals():
                for part, _, descriptor in self._open:
                    if not self._moved:  # else the result that has begun to stand needs it
                        part.unlink(missing_ok=True)
                    if descriptor >= 0:
                        os.close(descriptor)
                self._open.clear()

    def _move_to_places(self) -> None:
        if self._note is not None:
            self._note.write_text(_UNFINISHED_TEXT, encoding="utf-8")
        for part, target, _ in self._open:
            if self._guard is not None:
                self._guard.record_write(target, part)
            os.replace(part, target)
            self._moved = True
        for path in self._stale:
            if not any(_is_one_file(path, target) for _, target, _ in self._open):
                path.unlink(missing_ok=True)
        if self._note is not None:
            self._note.unlink(missing_ok=True)


def interrupted_writes(path: Path) -> list[Path]:
    """Hidden files next to a place that may hold what a killed process was about to move there."""
    target = Path(os.path.realpath(path))
    return sorted(target.parent.glob(f".{escape(_truncate_name(target.name))}*.part"))


def finish_interrupted_write(part: Path, path: Path) -> None:
    """Moves what a killed process left to its place, unless a process still writes it."""
    with suppress(OSError):
        descriptor = _open_temporary(part, folder=False)
        try:
            if try_lock(descriptor) and _is_same_file(descriptor, part, folder=False):
                os.replace(part, os.path.realpath(path))
        finally:
            os.close(descriptor)


def write_text(path: str | Path, text: str, own: bool = False) -> None:
    """One file of text; `own` as of `AtomicWrite`."""
    write_texts({Path(path): text}, own=own)


def write_texts(texts: Mapping[Path, str], sync: bool = True, own: bool = False) -> None:
    """Files of text that belong together."""
    with AtomicWrite(sync, own) as partial_files:
        for path, text in texts.items():
            partial_files.path_for(path).write_text(text, encoding="utf-8", newline="\n")


def write_folder(folder: Path, texts: Mapping[str, str]) -> None:
    """Files of text in a folder, by their names in it; a folder that is new appears with all of
    them. In one that exists, a note stands while a folder holds files of two results."""
    if folder.exists():
        _write_into_folder(folder, texts)
        return
    target = Path(os.path.realpath(folder))
    target.parent.mkdir(parents=True, exist_ok=True)
    part, descriptor = None, -1
    try:
        with defer_signals():
            part, descriptor = _claim_temporary(target, folder=True)
        for inner in part.iterdir():  # what a process that was killed left
            shutil.rmtree(inner) if inner.is_dir() and not inner.is_symlink() else inner.unlink()
        for name, text in texts.items():
            (part / name).parent.mkdir(parents=True, exist_ok=True)
            (part / name).write_text(text, encoding="utf-8", newline="\n")
        if (guard := _guard.get()) is not None:
            for name in texts:
                guard.record_write(target / name, part / name)
        os.replace(part, target)
    finally:
        with defer_signals():
            if part is not None:
                shutil.rmtree(part, ignore_errors=True)
            if descriptor >= 0:
                os.close(descriptor)


def _write_into_folder(folder: Path, texts: Mapping[str, str]) -> None:
    for name in texts:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
    with AtomicWrite(sync=False, note=folder / UNFINISHED) as partial_files:
        for name, text in texts.items():
            partial_files.path_for(folder / name).write_text(text, encoding="utf-8", newline="\n")


def _claim_temporary(target: Path, folder: bool = False) -> tuple[Path, int]:
    """A hidden file or folder next to a place that is ours alone, and what holds its lock (-1:
    there are no locks)."""
    for number in count(1) if LOCKS else ():
        part = target.with_name(
            f".{_truncate_name(target.name)}{number if number > 1 else ''}.part"
        )
        try:
            descriptor = _open_temporary(part, folder)
        except OSError:
            if not os.path.lexists(part):
                raise
            continue  # of somebody else
        has_lock = try_lock(descriptor)
        if has_lock and _is_same_file(descriptor, part, folder):
            return part, descriptor
        os.close(descriptor)
        if has_lock is None:
            break
    part = target.with_name(f".{_truncate_name(target.name)}.{uuid.uuid4().hex}.part")
    if folder:
        part.mkdir()
    else:
        os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666))
    return part, -1


def _open_temporary(part: Path, folder: bool) -> int:
    if folder:
        part.mkdir(exist_ok=True)
        return os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    return os.open(part, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)


def _is_same_file(descriptor: int, part: Path, folder: bool) -> bool:
    """Is this still what that name stands for, ours, and known by no other name?"""
    ours = os.fstat(descriptor)
    try:
        status = os.lstat(part)
    except FileNotFoundError:  # who had it moved it to its place meanwhile
        return False
    return (
        os.path.samestat(ours, status)
        and ours.st_uid == os.geteuid()
        and (folder or (ours.st_nlink == 1 and stat.S_ISREG(ours.st_mode)))
    )


def _is_one_file(one: Path, other: Path) -> bool:
    """Do two names stand for the same file, as where capitals do not matter?"""
    try:
        return os.path.samefile(one, other)
    except FileNotFoundError:
        return False


def _truncate_name(name: str) -> str:
    return os.fsdecode(os.fsencode(name)[:NAME])


@contextmanager
def defer_signals() -> Iterator[None]:
    """Ctrl-C, and other signals that Python handles, wait until this is done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {n: ours for n in _SIGNALS if callable(ours := signal.getsignal(n))}
    noted: list[tuple[Any, ...]] = []
    for number in handlers:
        signal.signal(number, lambda *given: noted.append(given))
    try:
        yield
    finally:
        for number in reversed(handlers):  # that of Ctrl-C is the last
            signal.signal(number, handlers[number])
    if noted:
        handlers[noted[0][0]](*noted[0])
