"""Derived models, and what else takes long, kept on disk by content, next to compiled libraries and by the same rules.

Something is loaded only if this user alone can have written it and its digest is right (`backend.cache`), and it holds
no code (`portable`). Whatever fails, it is made. The oldest are removed above a size limit.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from bellcrank.backend.cache import MODEL, discard, kept, limit_models, read_kept, usable_folder
from bellcrank.derive.content import content_of, data_of, digest_of
from bellcrank.derive.derived import Derived
from bellcrank.derive.portable import NotPortable, Portable, dumps
from bellcrank.errors import BuildError, warnings_issued
from bellcrank.model.records import Description
from bellcrank.program.statements import Assign

T = TypeVar("T")
FILE = "model"
RECENT = 4  # models of which a process keeps in memory what is the same for all numbers
SELDOM = 50  # the size of all is looked at with the first model of a process, and then with one in so many
_written = count()


def kept_model(description: Description, asked: Collection[Any], derive: Callable[[], Derived]) -> Derived:
    """The model of a description from the cache, or derived now and put there; `asked`: options of the derivation."""
    try:
        key = content_of(description, *asked)
    except NotPortable:
        return derive()
    known = {
        "parameters": description.parameters, "run": description.run, "definitions": description.definitions,
        **data_of(description),
    }  # fmt: skip
    found = _kept(key, partial(_walked, derive), known, _assignments, recent=True)
    object.__setattr__(found.program, "content", key)
    return found


def kept_object(content: Any, make: Callable[[], T]) -> T:
    """An object that follows from some content, from the cache or made now."""
    try:
        key = digest_of((make, content))
    except NotPortable:
        return make()
    return _kept(key, make, {})


class _Recent:
    """What was read last, some of it already as objects: the most recent ones of a process."""

    def __init__(self) -> None:
        self._read: OrderedDict[tuple[str, Path], Portable] = OrderedDict()
        self._turns = Lock()

    def get(self, key: str, folder: Path) -> Portable | None:
        with self._turns:
            found = self._read.pop((key, folder), None)
            if found is not None:
                self._read[key, folder] = found
        if found is None and (found := _read(key, folder)) is not None:
            with self._turns:
                self._read[key, folder] = found
                while len(self._read) > RECENT:
                    self._read.popitem(last=False)
        return found

    def forget(self, key: str, folder: Path) -> None:
        with self._turns:
            self._read.pop((key, folder), None)


_recent = _Recent()


def _kept(
    key: str,
    make: Callable[[], T],
    known: dict[str, Any],
    still: Callable[[T], Sequence[Any]] = lambda _: (),
    recent: bool = False,
) -> T:
    """What is kept under a key, or made now; `still`: parts of it that are always the same, as of `dumps`; `recent`:
    these stay in memory."""
    key, folder = f"{MODEL}{key}", usable_folder()
    try:
        read = _recent.get(key, folder) if recent else _read(key, folder)
        if read is not None:
            found: T = read.load(known)
            return found
    except NotPortable:
        _recent.forget(key, folder)
        discard(key, folder)
    before = warnings_issued()
    made = make()
    if warnings_issued() == before:  # else they are issued again the next time
        with suppress(NotPortable, BuildError, OSError):
            written = dumps(made, known, still(made))
            kept(key, lambda work: _write(work / FILE, written), folder, FILE)
            if not next(_written) % SELDOM:
                limit_models(folder)
    return made


def _read(key: str, folder: Path) -> Portable | None:
    data = read_kept(key, folder, FILE)
    return None if data is None else Portable(data)


def _walked(derive: Callable[[], Derived]) -> Derived:
    found = derive()
    found.program.walk()
    return found


def _assignments(derived: Derived) -> list[Assign]:
    """Statements of the program that have no tables in them."""
    listed = (s for f in derived.program.functions.values() for s in f.section.statements)
    return [*{id(s): s for s in listed if isinstance(s, Assign)}.values()]


def _write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path
