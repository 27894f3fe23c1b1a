"""The content of a description as a digest: equal for descriptions from which the same equations follow.

Values of parameters, points of tables and the settings of runs are omitted, as equations keep parameters and tables as
symbols; but for models with closed loops, whose derivation looks at numbers. An object says by `content()` what
identifies it, where that is less than all it holds. What has no content that is known, such as a function of the user,
raises `NotPortable`.
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType
from typing import Any

import numpy as np

from bellcrank import __version__
from bellcrank.derive.portable import OWN, NotPortable
from bellcrank.expr.flat import dump
from bellcrank.expr.node import Expr
from bellcrank.model.records import Description, ParameterRecord, RunRecord

NONE: Mapping[int, str] = MappingProxyType({})
OFTEN = frozenset((str, int, float, bool, type(None)))
PLAIN = (str, int, float, bool, complex, bytes, Fraction, np.generic, type(None), type(...))


def content_of(description: Description, *more: Any) -> str:
    """The digest of a description, of what else was asked for, and of the installed package."""
    numbers = bool(description.loops or description.contacts) or any(
        c.eliminate is None for c in description.constraints
    )
    known = {} if numbers else {id(x): name for name, x in data_of(description).items()}
    return digest_of((description, more), numbers, known)


def digest_of(thing: Any, numbers: bool = True, known: Mapping[int, str] = NONE) -> str:
    """The digest of any object, and of the installed package; objects that are `known` are named, by their id."""
    return hashlib.sha256(_Walk(numbers, known).of((_installed(), thing))).hexdigest()


def data_of(description: Description) -> dict[str, Any]:
    """What equations do not depend on, by name: ranges that runs are compared with; points and values of tables, whose
    names say what a program has to know of them. Those that several tables share have one name."""
    found: dict[int, tuple[str, Any]] = {}
    for t in description.tables.values():
        if t.defined:
            for what, x in (("axes", t.axes), ("values", t.values)):
                found.setdefault(id(x), (f"{what} {len(found)} {t.room}", x))
    return {**dict(found.values()), "ranges": description.ranges}


@lru_cache(maxsize=1)
def _installed() -> str:
    """Digest of version and files of the package: other files may derive other equations."""
    root = Path(__file__).parents[1]
    files = []
    for folder, _, names in os.walk(root):
        if not folder.endswith("__pycache__"):
            files += [(f"{folder}/{name}", os.stat(f"{folder}/{name}")) for name in names]
    listed = sorted((path.removeprefix(str(root)), of.st_size, of.st_mtime_ns) for path, of in files)
    found = __version__, platform.python_version(), np.__version__, listed
    return hashlib.sha256(repr(found).encode("utf-8", "surrogatepass")).hexdigest()


class _Walk:
    """Digests of objects and all that they hold. Equal objects have equal ones, be they one object or two: what was
    read from the cache shares fewer objects than what was made here."""

    def __init__(self, numbers: bool, known: Mapping[int, str] = NONE) -> None:
        self._numbers, self._known = numbers, known
        self._found: dict[int, tuple[bytes, Any]] = {}  # the object too: an id is good as long as it lives
        self._open: dict[int, int] = {}  # what is being walked through

    def of(self, thing: Any) -> bytes:
        if type(thing) in OFTEN or isinstance(thing, PLAIN):
            return f"{type(thing).__name__} {thing!r}".encode("utf-8", "surrogatepass")
        key = id(thing)
        if key in self._known:
            return self._known[key].encode()
        if key in self._found:
            return self._found[key][0]
        if key in self._open:
            return b"within %d" % (len(self._open) - self._open[key])
        self._open[key] = len(self._open)
        data = [type(thing).__name__.encode(), *map(self.of, self._parts(thing))]
        del self._open[key]
        found = hashlib.sha256(b"".join([b"%d:%b" % (len(x), x) for x in data])).digest()
        self._found[key] = found, thing
        return found

    def _parts(self, thing: Any) -> Iterable[Any]:
        if isinstance(thing, Expr):
            return dump([thing])
        if isinstance(thing, list | tuple):
            return thing
        if isinstance(thing, dict):
            return [x for pair in thing.items() for x in pair]
        if isinstance(thing, set | frozenset):
            return sorted(map(self.of, thing))
        if isinstance(thing, np.ndarray):
            return str(thing.dtype), thing.shape, np.ascontiguousarray(thing).tobytes()
        if isinstance(thing, Path):
            return (str(thing),)
        if isinstance(thing, ParameterRecord) and not self._numbers:
            shown = thing.units, thing.label, thing.range
            return thing.name, thing.value is None, *shown, thing.positive, thing.declared
        if isinstance(thing, RunRecord) and not self._numbers:
            return ()
        if isinstance(thing, MethodType):
            return thing.__func__, thing.__self__
        if isinstance(thing, partial):
            return thing.func, thing.args, thing.keywords
        if isinstance(thing, type | FunctionType | BuiltinFunctionType):
            return _named(thing)
        if hasattr(thing, "__wrapped__"):
            return (thing.__wrapped__,)
        if hasattr(thing, "content"):
            return (thing.content(),)
        if type(thing).__module__.startswith(f"{OWN}."):
            return _held(thing)
        raise NotPortable(f"{type(thing).__module__}.{type(thing).__qualname__}")


def _named(thing: Any) -> list[Any]:
    module = str(thing.__module__)
    if not module.startswith(f"{OWN}.") and module not in ("builtins", "math", "operator", "numpy"):
        raise NotPortable(f"{module}.{thing.__qualname__}")
    found = [module, thing.__qualname__]
    if isinstance(thing, FunctionType):
        cells = [c.cell_contents for c in thing.__closure__ or ()]
        found += [thing.__code__.co_firstlineno, thing.__defaults__, thing.__kwdefaults__, *cells]
    return found


def _held(thing: Any) -> list[Any]:
    """What an object holds, without what it has found meanwhile; of a dataclass the values alone, as its type names
    them."""
    kind: Any = type(thing)
    names = _fields(kind)
    if names is not None:
        return [getattr(thing, name) for name in names]
    found = dict(vars(thing)) if hasattr(thing, "__dict__") else {}
    for cls in type(thing).__mro__:
        listed = getattr(cls, "__slots__", ())
        slots = (listed,) if isinstance(listed, str) else listed
        found |= {name: getattr(thing, name) for name in slots if hasattr(thing, name) and name != "__weakref__"}
    later = {name for cls in type(thing).__mro__ for name, x in vars(cls).items() if isinstance(x, cached_property)}
    return [x for pair in found.items() if pair[0] not in later for x in pair]


@cache
def _fields(cls: type) -> tuple[str, ...] | None:
    """Fields of a dataclass that make up its content."""
    if not is_dataclass(cls):
        return None
    return tuple(f.name for f in fields(cls) if f.metadata.get("content", f.compare or not f.name.startswith("_")))
