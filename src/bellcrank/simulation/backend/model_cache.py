"""Derived models, and what else takes long, kept on disk by content, next to compiled libraries and
by the same rules.

Something is loaded only if this user alone can have written it and its digest is right
(`simulation.backend.cache`), and it holds no code (`portable`). Whatever fails, it is made. The
oldest are removed above a size limit.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from threading import Lock
from typing import TypeVar

from bellcrank.core.errors import BuildError, warnings_issued
from bellcrank.mechanics.derive.content_digest import (
    equation_digest,
    equation_independent_data,
    object_digest,
)
from bellcrank.mechanics.derive.derived import DerivedModel
from bellcrank.mechanics.derive.model_pickle import NotPortable, PickledModel, dumps
from bellcrank.model.records import Description
from bellcrank.program.statements import AssignStatement
from bellcrank.simulation.backend.cache import (
    MODEL,
    get_or_make_file,
    limit_cache_size,
    read_cached,
    remove_key,
    usable_folder,
)

T = TypeVar("T")
FILE = "model"
RECENT = 4  # models of which a process keeps in memory what is the same for all numbers
# the size of all is looked at with the first model of a process, and then with one in so many
SELDOM = 50
_written = count()


def cached_model(
    description: Description, options: Collection[object], derive: Callable[[], DerivedModel]
) -> DerivedModel:
    """The model of a description from the cache, or derived now and put there; `options`: options
    of the derivation."""
    try:
        key = equation_digest(description, *options)
    except NotPortable:
        return derive()
    shared_objects = {
        "parameters": description.parameters,
        "run": description.run,
        "definitions": description.definitions,
        **equation_independent_data(description),
    }
    derived = _load_or_make(
        key, partial(_derive_and_walk, derive), shared_objects, _table_free_assignments, recent=True
    )
    object.__setattr__(derived.program, "content", key)
    return derived


def cached_object(content: object, build: Callable[[], T]) -> T:
    """An object that follows from some content, from the cache or made now."""
    try:
        key = object_digest((build, content))
    except NotPortable:
        return build()
    return _load_or_make(key, build, {})


class _RecentObjects:
    """What was read last, some of it already as objects: the most recent ones of a process."""

    def __init__(self) -> None:
        self._read: OrderedDict[tuple[str, Path], PickledModel] = OrderedDict()
        self._turns = Lock()

    def read_recent(self, key: str, folder: Path) -> PickledModel | None:
        with self._turns:
            portable = self._read.pop((key, folder), None)
            if portable is not None:
                self._read[key, folder] = portable
        if portable is None and (portable := _read_portable(key, folder)) is not None:
            with self._turns:
                self._read[key, folder] = portable
                while len(self._read) > RECENT:
                    self._read.popitem(last=False)
        return portable

    def remove_key(self, key: str, folder: Path) -> None:
        with self._turns:
            self._read.pop((key, folder), None)


_recent = _RecentObjects()


def _load_or_make(
    key: str,
    build: Callable[[], T],
    shared_objects: dict[str, object],
    shared_parts: Callable[[T], Sequence[object]] = lambda _: (),
    recent: bool = False,
) -> T:
    """Return the cached object of a key, or build it and store it.

    `shared_parts` lists the parts of an object that are always the same (`dumps`); with `recent`
    they stay in memory.
    """
    key, folder = f"{MODEL}{key}", usable_folder()
    try:
        read = _recent.read_recent(key, folder) if recent else _read_portable(key, folder)
        if read is not None:
            loaded: T = read.load_object(shared_objects)
            return loaded
    except NotPortable:
        _recent.remove_key(key, folder)
        remove_key(key, folder)
    n_warnings = warnings_issued()
    new_object = build()
    if warnings_issued() == n_warnings:  # else they are issued again the next time
        with suppress(NotPortable, BuildError, OSError):
            data = dumps(new_object, shared_objects, shared_parts(new_object))
            get_or_make_file(key, lambda work: _write(work / FILE, data), folder, FILE)
            if not next(_written) % SELDOM:
                limit_cache_size(folder)
    return new_object


def _read_portable(key: str, folder: Path) -> PickledModel | None:
    data = read_cached(key, folder, FILE)
    return None if data is None else PickledModel(data)


def _derive_and_walk(derive: Callable[[], DerivedModel]) -> DerivedModel:
    derived = derive()
    derived.program.cache_statement_facts()
    return derived


def _table_free_assignments(derived: DerivedModel) -> list[AssignStatement]:
    """Statements of the program that have no tables in them."""
    listed = (s for f in derived.program.functions.values() for s in f.section.statements)
    return [*{id(s): s for s in listed if isinstance(s, AssignStatement)}.values()]


def _write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path
