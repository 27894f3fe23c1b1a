"""Compiled libraries kept by content: CACHE/KEY/library.so, and beside it the digest of what was made.

A library is made in a folder of its own, which is then moved to its place, so that any number of processes may make
the same one at the same time, and one that is killed leaves nothing half done. It is loaded only if its digest is the
one beside it, and made again if not. Nobody else may be able to write where libraries are loaded from.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from bellcrank.errors import BuildError, warn
from bellcrank.files.locks import LOCKS, locked
from bellcrank.files.whole import undisturbed

LIBRARY, DIGEST = f"library{'.dll' if sys.platform == 'win32' else '.so'}", "digest"
BUILD = "build-"
ATTEMPTS = 10  # to put a library where others mend the same one
YOUNG, OLD = (
    60.0,
    86_400.0,
)  # s: a build below this age goes on; above that one it does not, locks or none


def cache_folder() -> Path:
    """BELLCRANK_CACHE, else the folder bellcrank in XDG_CACHE_HOME, else in ~/.cache."""
    if named := os.environ.get("BELLCRANK_CACHE"):
        return Path(named).absolute()
    base = os.environ.get("XDG_CACHE_HOME", "")
    if base and not os.path.isabs(base):
        warn(f"XDG_CACHE_HOME={base!r} is not used: it must be an absolute path")
        base = ""
    return (Path(base) if base else Path(os.path.expanduser("~")) / ".cache") / "bellcrank"


def usable_folder() -> Path:
    """The cache folder, made where it is missing; or one for this process alone, with a word that says why."""
    return _usable(cache_folder())


def found(key: str, folder: Path) -> Path | None:
    """The library of a key in the cache, if it is there and whole."""
    return _verified(folder / key)


def kept(key: str, make: Callable[[Path], Path], folder: Path | None = None) -> Path:
    """The library of a key, from the cache or made now: `make` compiles it in a folder and returns its path there.

    `folder` is what `usable_folder` has returned, if it was asked before.
    """
    folder = usable_folder() if folder is None else folder
    place = folder / key
    if (there := _verified(place)) is not None:
        return there
    if place.exists():
        warn(f"the library {place / LIBRARY} in the cache is not the one that was put there: it is made again")
    _sweep(folder)
    with _build(folder) as work:
        made = make(work)
        ready = work / "ready"
        ready.mkdir()
        os.replace(made, ready / LIBRARY)
        (ready / DIGEST).write_text(_digest(ready / LIBRARY), encoding="ascii")
        try:
            _put(ready, place)
        except OSError as error:
            raise BuildError(f"the compiled model cannot be put into {folder}: {error.strerror or error}") from None
    return place / LIBRARY


def _put(ready: Path, place: Path) -> None:
    """Moves a library to its place, unless another process has put a good one there meanwhile.

    What is wrong there is moved away, not removed bit by bit: another process may put its own in between.
    """
    for attempt in range(ATTEMPTS):
        try:
            os.replace(ready, place)
            return
        except OSError:
            if _verified(place) is not None:
                return
            if attempt == ATTEMPTS - 1:
                raise
            with suppress(OSError):
                os.replace(place, ready.with_name(f"wrong-{attempt}"))


def _verified(place: Path) -> Path | None:
    """The library at a place, if it is whole."""
    try:
        good = (place / DIGEST).read_text(encoding="ascii") == _digest(place / LIBRARY)
    except (OSError, ValueError):
        return None
    return place / LIBRARY if good else None


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# ---- folders


def _usable(folder: Path) -> Path:
    """The folder, made where it is missing; or one for this process alone, with a word that says why."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        why = _open_to_others(folder) or ("" if os.access(folder, os.W_OK) else "it cannot be written")
    except OSError as error:
        why = f"it cannot be written ({error.strerror or error})"
    if why:
        warn(f"the cache folder {folder} is not used: {why}; compiled models are kept for this process only")
        return Path(_own(os.getpid()).name)
    return folder


def _open_to_others(folder: Path) -> str:
    """Why others could put a library of theirs there; nothing if they cannot."""
    if os.name != "posix":
        return ""
    found = os.stat(folder)
    if found.st_uid != os.geteuid():
        return "it belongs to another user"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others can write to it (chmod 700 {folder} closes it)"
    for parent in folder.resolve().parents:
        found = os.stat(parent)
        if found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
            return f"others can write to {parent}"
    return ""


@lru_cache(maxsize=1)
def _own(process: int) -> tempfile.TemporaryDirectory[str]:
    """A folder of this process, which others cannot enter."""
    return tempfile.TemporaryDirectory(prefix="bellcrank-", ignore_cleanup_errors=True)


@contextmanager
def _build(folder: Path) -> Iterator[Path]:
    """A folder to build in, locked while we do. Its name is known before it is there: an interrupt leaves nothing."""
    work, held = folder / f"{BUILD}{uuid.uuid4().hex}", None
    try:
        try:
            work.mkdir(mode=0o700)
            held = _locked(work)
        except OSError as error:
            raise BuildError(f"cannot build in {folder}: {error.strerror or error}") from None
        yield work
    finally:
        with undisturbed():
            shutil.rmtree(work, ignore_errors=True)
            if held is not None:
                os.close(held)


def _locked(folder: Path) -> int | None:
    """What holds the lock of a folder; None where it is held by another, or there are no locks."""
    if not LOCKS:
        return None
    held = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    if locked(held):
        return held
    os.close(held)
    return None


def _sweep(folder: Path) -> None:
    """Removes what processes that were killed left of their builds."""
    for work in folder.glob(f"{BUILD}*"):
        with suppress(OSError):
            age = time.time() - work.stat().st_mtime
            held = _locked(work) if age > YOUNG else None
            if held is not None:
                os.close(held)
            if held is not None or age > OLD:
                shutil.rmtree(work, ignore_errors=True)
