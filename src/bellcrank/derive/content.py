"""The content of a description as a digest: equal for descriptions from which the same equations follow.

Values of parameters and the settings of runs are left out, as equations keep parameters as symbols; but for models with
closed loops, whose derivation looks at numbers. An object says by `content()` what identifies it, where that is less
than all it holds. What has no content that is known, such as a function of the user, raises `NotPortable`.
"""

from __future__ import annotations

import hashlib
import os
import platform
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from bellcrank import __version__
from bellcrank.derive.portable import OWN, NotPortable
from bellcrank.expr.flat import dump
from bellcrank.expr.node import Expr
from bellcrank.model.records import Description, ParameterRecord, RunRecord

PLAIN = (str, int, float, bool, complex, bytes, Fraction, np.generic, type(None), type(...))


def content_of(description: Description, *more: Any) -> str:
    """The digest of a description, of what else was asked for, and of the installed package."""
    numbers = bool(description.loops or description.contacts) or any(
        c.eliminate is None for c in description.constraints
    )
    return digest_of((description, more), numbers)


def digest_of(thing: Any, numbers: bool = True) -> str:
    """The digest of any object, and of the installed package."""
    walk = _Walk(numbers)
    walk.add((_installed(), thing))
    return walk.hash.hexdigest()


@lru_cache(maxsize=1)
def _installed() -> tuple[Any, ...]:
    """Version and files of the package: other files may derive other equations."""
    root = Path(__file__).parents[1]
    files = []
    for folder, _, names in os.walk(root):
        if not folder.endswith("__pycache__"):
            files += [(f"{folder}/{name}", os.stat(f"{folder}/{name}")) for name in names]
    listed = sorted((path.removeprefix(str(root)), found.st_size, found.st_mtime_ns) for path, found in files)
    return __version__, platform.python_version(), np.__version__, tuple(listed)


class _Walk:
    """Feeds a hash with an object and all that it holds; what was met before is named by its number."""

    def __init__(self, numbers: bool) -> None:
        self.hash = hashlib.sha256()
        self._numbers = numbers
        self._met: dict[int, tuple[int, Any]] = {}  # the object too: an id is good as long as it lives

    def add(self, thing: Any) -> None:
        if isinstance(thing, PLAIN):
            self._text(f"{type(thing).__name__} {thing!r}")
            return
        if id(thing) in self._met:
            self._text(f"met {self._met[id(thing)][0]}")
            return
        self._met[id(thing)] = len(self._met), thing
        self._text(type(thing).__name__)
        self._parts(thing)

    def _parts(self, thing: Any) -> None:
        if isinstance(thing, Expr):
            for row in dump([thing]):
                self._all(row)
        elif isinstance(thing, list | tuple):
            self._all(thing)
        elif isinstance(thing, dict):
            self._all([x for pair in thing.items() for x in pair])
        elif isinstance(thing, set | frozenset):
            self._text(" ".join(sorted(_alone(x, self._numbers) for x in thing)))
        elif isinstance(thing, np.ndarray):
            self._text(f"{thing.dtype} {thing.shape}")
            self.hash.update(np.ascontiguousarray(thing).tobytes())
        elif isinstance(thing, Path):
            self._text(str(thing))
        elif isinstance(thing, ParameterRecord) and not self._numbers:
            self._all((thing.name, thing.value is None, thing.units, thing.label, thing.positive, thing.declared))
        elif isinstance(thing, RunRecord) and not self._numbers:
            pass
        elif isinstance(thing, MethodType):
            self._all((thing.__func__, thing.__self__))
        elif isinstance(thing, partial):
            self._all((thing.func, thing.args, thing.keywords))
        elif isinstance(thing, type | FunctionType | BuiltinFunctionType):
            self._named(thing)
        elif hasattr(thing, "__wrapped__"):
            self.add(thing.__wrapped__)
        elif hasattr(thing, "content"):
            self.add(thing.content())
        elif type(thing).__module__.startswith(f"{OWN}."):
            self._all([x for pair in _held(thing) for x in pair])
        else:
            raise NotPortable(f"{type(thing).__module__}.{type(thing).__qualname__}")

    def _named(self, thing: Any) -> None:
        module = str(thing.__module__)
        if not module.startswith(f"{OWN}.") and module not in ("builtins", "math", "operator", "numpy"):
            raise NotPortable(f"{module}.{thing.__qualname__}")
        self._text(f"{module} {thing.__qualname__}")
        if isinstance(thing, FunctionType):
            self._text(str(thing.__code__.co_firstlineno))
            self._all((thing.__defaults__, thing.__kwdefaults__))
            self._all([c.cell_contents for c in thing.__closure__ or ()])

    def _all(self, parts: Any) -> None:
        self._text(str(len(parts)))
        for part in parts:
            self.add(part)

    def _text(self, text: str) -> None:
        data = text.encode("utf-8", "surrogatepass")
        self.hash.update(len(data).to_bytes(8, "big") + data)


def _alone(thing: Any, numbers: bool) -> str:
    walk = _Walk(numbers)
    walk.add(thing)
    return walk.hash.hexdigest()


def _held(thing: Any) -> list[tuple[str, Any]]:
    """What an object holds by name, without what it has found meanwhile."""
    if is_dataclass(thing):
        counted = [f for f in fields(thing) if f.metadata.get("content", f.compare or not f.name.startswith("_"))]
        return [(f.name, getattr(thing, f.name)) for f in counted]
    found = dict(vars(thing)) if hasattr(thing, "__dict__") else {}
    for cls in type(thing).__mro__:
        listed = getattr(cls, "__slots__", ())
        names = (listed,) if isinstance(listed, str) else listed
        found |= {name: getattr(thing, name) for name in names if hasattr(thing, name) and name != "__weakref__"}
    later = {name for cls in type(thing).__mro__ for name, x in vars(cls).items() if isinstance(x, cached_property)}
    return [(name, x) for name, x in found.items() if name not in later]
