"""Derived models, and what else takes long, kept on disk by content, next to compiled libraries and by the same rules.

Something is loaded only if this user alone can have written it and its digest is right (`backend.cache`), and it holds
no code (`portable`). Whatever fails, it is made. The oldest are removed above a size limit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from bellcrank.backend.cache import MODEL, discard, kept, limit_models, read_kept, usable_folder
from bellcrank.derive.content import content_of, data_of, digest_of
from bellcrank.derive.derived import Derived
from bellcrank.derive.portable import NotPortable, dumps, loads
from bellcrank.errors import BuildError, warnings_issued
from bellcrank.model.records import Description

T = TypeVar("T")
FILE = "model"
SELDOM = 50  # the size of all is looked at with the first model of a process, and then with one in so many
_written = count()


def kept_model(description: Description, asked: Collection[Any], derive: Callable[[], Derived]) -> Derived:
    """The model of a description from the cache, or derived now and put there; `asked`: options of the derivation."""
    try:
        key = content_of(description, *asked)
    except NotPortable:
        return derive()
    known = {"parameters": description.parameters, "run": description.run, **data_of(description)}
    found = _kept(key, derive, known)
    object.__setattr__(found.program, "content", key)
    return found


def kept_object(content: Any, make: Callable[[], T]) -> T:
    """An object that follows from some content, from the cache or made now."""
    try:
        key = digest_of((make, content))
    except NotPortable:
        return make()
    return _kept(key, make, {})


def _kept(key: str, make: Callable[[], T], known: dict[str, Any]) -> T:
    key, folder = f"{MODEL}{key}", usable_folder()
    data = read_kept(key, folder, FILE)
    if data is not None:
        try:
            found: T = loads(data, known)
            return found
        except NotPortable:
            discard(key, folder)
    before = warnings_issued()
    made = make()
    if warnings_issued() == before:  # else they are issued again the next time
        with suppress(NotPortable, BuildError, OSError):
            written = dumps(made, known)
            kept(key, lambda work: _write(work / FILE, written), folder, FILE)
            if not next(_written) % SELDOM:
                limit_models(folder)
    return made


def _write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path
