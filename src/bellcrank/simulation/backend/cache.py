"""Files kept by content: CACHE/KEY/library.so (or another name), and next to it the digest of what
was made.

A library is made in a separate folder, which is then moved to its place, so that any number of
processes may make the same one at the same time, and one that is killed leaves nothing half done.
It is used only if this user alone can have written it (`core.files.trusted`) and its digest is the
one next to it, and made again if not.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from bellcrank.core.errors import BuildError, issue_warning
from bellcrank.core.files.atomic import defer_signals
from bellcrank.core.files.locks import LOCKS, try_lock
from bellcrank.core.files.trusted import POSIX, folder_access_problem, read_trusted

LIBRARY, DIGEST = f"library{'.dll' if sys.platform == 'win32' else '.so'}", "digest"
BUILD, MODEL, TEXT = "build-", "model-", "text"
MOST = 256 * 2**20  # bytes of derived models, and of texts that follow from them
ATTEMPTS = 10  # to put a library where others mend the same one
YOUNG, OLD = (
    60.0,
    86_400.0,
)  # s: a build below this age continues; above that one it does not, locks or none


def cache_folder() -> Path | None:
    """BELLCRANK_CACHE, else the folder bellcrank in XDG_CACHE_HOME, else in ~/.cache; None for a
    user without home."""
    if path := os.environ.get("BELLCRANK_CACHE"):
        return Path(path).absolute()
    base = os.environ.get("XDG_CACHE_HOME", "")
    if base and not os.path.isabs(base):
        issue_warning(f"XDG_CACHE_HOME={base!r} is not used: it must be an absolute path")
        base = ""
    home = os.path.expanduser(
        "~"
    )  # stays "~" where there is neither HOME nor an entry of this user
    if not base and not os.path.isabs(home):
        return None
    return (Path(base) if base else Path(home) / ".cache") / "bellcrank"


def usable_folder() -> Path:
    """The cache folder, made where it is missing; or one for this process alone, with a warning
    that says why."""
    return _usable_or_temporary(cache_folder())


def cached_file(key: str, folder: Path, name: str = LIBRARY) -> Path | None:
    """The file of a key in the cache, if it is there, whole, and written by this user."""
    return None if read_cached(key, folder, name) is None else folder / key / name


def read_cached(key: str, folder: Path, name: str = LIBRARY) -> bytes | None:
    """What the file of a key holds, if it is there, whole, and written by this user. `folder`: a
    `usable_folder`."""
    return _trusted_content(folder / key, name)


def remove_key(key: str, folder: Path) -> None:
    """Removes what is kept under a key."""
    with suppress(OSError), _build_folder(folder) as work:
        os.replace(folder / key, work / "gone")


def get_or_make_file(
    key: str, build_file: Callable[[Path], Path], folder: Path | None = None, name: str = LIBRARY
) -> Path:
    """The file of a key, from the cache or made now: `build_file` makes it in a folder and returns
    its path there.

    `folder` is what `usable_folder` has returned, if it was asked before.
    """
    folder = usable_folder() if folder is None else folder
    target = folder / key
    if _trusted_content(target, name) is not None:
        return target / name
    if os.path.lexists(target):
        issue_warning(
            f"{target / name} in the cache is not the one that was put there: it is made again"
        )
    _remove_stale_builds(folder)
    with _build_folder(folder) as work:
        built_path = build_file(work)
        staging = work / "ready"
        staging.mkdir(mode=0o700)
        os.replace(built_path, staging / name)
        if POSIX:
            os.chmod(staging / name, 0o700)
        (staging / DIGEST).write_text(_digest((staging / name).read_bytes()), encoding="ascii")
        if POSIX:
            os.chmod(staging / DIGEST, 0o600)
        try:
            _move_into_cache(staging, target, name)
        except OSError as error:
            raise BuildError(
                f"the compiled model cannot be put into {folder}: {error.strerror or error}"
            ) from None
    return target / name


@contextmanager
def temporary_copy(path: Path) -> Iterator[Path]:
    """A copy of a file of the cache, next to its folder, for as long as it is needed."""
    with _build_folder(path.parent.parent) as work:
        yield Path(shutil.copyfile(path, work / path.name))


def get_or_make_text(content: str, write: Callable[[], str]) -> str:
    """A text that follows from some content, from the cache or written now."""
    key, folder = f"{MODEL}text-{_digest(content.encode())}", usable_folder()
    if (cached := read_cached(key, folder, TEXT)) is not None:
        return cached.decode()
    text = write()

    def write_text_file(work: Path) -> Path:
        (work / TEXT).write_bytes(text.encode())
        return work / TEXT

    with suppress(BuildError, OSError):
        get_or_make_file(key, write_text_file, folder, TEXT)
    return text


def limit_cache_size(folder: Path) -> None:
    """Removes the oldest models, and texts that follow from them, above a size limit."""
    total = 0
    with suppress(OSError):  # another process may remove some meanwhile
        listed = [(p.stat(), p) for p in folder.glob(f"{MODEL}*/*")]
        for file_status, path in sorted(listed, key=lambda x: x[0].st_mtime, reverse=True):
            total += file_status.st_size
            if total > MOST:
                remove_key(path.parent.name, folder)


def _move_into_cache(staging: Path, target: Path, name: str) -> None:
    """Moves a library to its place, unless another process has put a good one there meanwhile.

    What is wrong there is moved away, not removed bit by bit: another process may put its own in
    between.
    """
    for attempt in range(ATTEMPTS):
        try:
            os.replace(staging, target)
            return
        except OSError:
            if _trusted_content(target, name) is not None:
                return
            if attempt == ATTEMPTS - 1:
                raise
            with suppress(OSError):
                os.replace(target, staging.with_name(f"wrong-{attempt}"))


def _trusted_content(folder: Path, name: str) -> bytes | None:
    """What a file at a place holds, if it is whole and nobody else can have written it."""
    try:
        if folder_access_problem(folder, above=False):
            return None
    except OSError:
        return None
    content, digest = read_trusted(folder / name), read_trusted(folder / DIGEST)
    return content if content is not None and digest == _digest(content).encode() else None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# ---- folders


def _usable_or_temporary(folder: Path | None) -> Path:
    """The folder, made where it is missing; or one for this process alone, with a warning that says
    why."""
    if folder is None:
        reason, folder_text = (
            "there is no home folder (set HOME, or BELLCRANK_CACHE to a folder of yours)",
            "in ~/.cache",
        )
    else:
        reason, folder_text = "", str(folder)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = folder.resolve()
            reason = folder_access_problem(folder)
            if reason:
                reason += (
                    ", so that what is in it may be theirs (delete it, and it is made afresh, "
                    "or set BELLCRANK_CACHE)"
                )
            elif not os.access(folder, os.W_OK):
                reason = "it cannot be written"
        except OSError as error:
            reason = f"it cannot be written ({error.strerror or error})"
    if folder is not None and not reason:
        return folder
    issue_warning(
        f"the cache folder {folder_text} is not used: {reason}; compiled models are kept "
        f"for this process only"
    )
    private_folder = Path(_process_folder(os.getpid()).name).resolve()
    if reason := folder_access_problem(private_folder):
        raise BuildError(
            f"compiled models cannot be kept safely in {private_folder}: {reason}; set "
            f"TMPDIR to a folder of yours"
        )
    return private_folder


@lru_cache(maxsize=1)
def _process_folder(process: int) -> tempfile.TemporaryDirectory[str]:
    """A folder of this process, which others cannot enter."""
    return tempfile.TemporaryDirectory(prefix="bellcrank-", ignore_cleanup_errors=True)


@contextmanager
def _build_folder(folder: Path) -> Iterator[Path]:
    """A folder to build in, locked while we do. Its name is known before it is there: an interrupt
    leaves nothing."""
    work, lock = folder / f"{BUILD}{uuid.uuid4().hex}", None
    try:
        try:
            work.mkdir(mode=0o700)
            lock = _lock_folder(work)
        except OSError as error:
            raise BuildError(f"cannot build in {folder}: {error.strerror or error}") from None
        yield work
    finally:
        with defer_signals():
            shutil.rmtree(work, ignore_errors=True)
            if lock is not None:
                os.close(lock)


def _lock_folder(folder: Path) -> int | None:
    """What holds the lock of a folder; None where it is held by another, or there are no locks."""
    if not LOCKS:
        return None
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    if try_lock(descriptor):
        return descriptor
    os.close(descriptor)
    return None


def _remove_stale_builds(folder: Path) -> None:
    """Removes what processes that were killed left of their builds."""
    for work in folder.glob(f"{BUILD}*"):
        with suppress(OSError):
            age = time.time() - work.stat().st_mtime
            lock = _lock_folder(work) if age > YOUNG else None
            if lock is not None:
                os.close(lock)
            if lock is not None or age > OLD:
                shutil.rmtree(work, ignore_errors=True)
