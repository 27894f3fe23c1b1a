"""The content of a description as a digest: equal for descriptions from which the same equations
follow.

Values of parameters, points of tables and the settings of runs are omitted, as equations keep
parameters and tables as symbols; but for models with closed loops, whose derivation looks at
numbers. An object says by `content()` what identifies it, where that is less than all it holds.
What has no content that is known, such as a function of the user, raises `NotPortable`.
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache, partial
from operator import attrgetter
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType
from typing import Any

import numpy as np

from bellcrank import __version__
from bellcrank.mechanics.derive.model_pickle import PACKAGE_NAME, NotPortable
from bellcrank.model.records import Description, ParameterRecord, RunRecord
from bellcrank.symbolic.expr.node import Expr
from bellcrank.symbolic.expr.serialization import dump_nodes

NO_KNOWN_OBJECTS: Mapping[int, str] = MappingProxyType({})
SCALAR_TYPES = (str, int, float, bool, complex, bytes, Fraction, np.generic, type(None), type(...))

CONTAINER_TYPES = (Expr, list, tuple, dict, set, frozenset, np.ndarray, Path, partial)


def equation_digest(description: Description, *extra: Any) -> str:
    """The digest of a description, of what else was asked for, and of the installed package."""
    numbers = bool(description.loops or description.rigid_contacts) or any(
        c.eliminate is None for c in description.constraints
    )
    id_names = (
        {}
        if numbers
        else {id(x): name for name, x in equation_independent_data(description).items()}
    )
    return object_digest((description, extra), numbers, id_names)


def object_digest(
    thing: Any, numbers: bool = True, id_names: Mapping[int, str] = NO_KNOWN_OBJECTS
) -> str:
    """The digest of any object, and of the installed package; objects that are `id_names` are
    named, by their id."""
    return _DigestWalk(numbers, id_names).digest((_package_digest(), thing))


def equation_independent_data(description: Description) -> dict[str, Any]:
    """What equations do not depend on, by name: ranges that runs are compared with; points and
    values of tables, whose names say what a program has to know of them. Those that several tables
    share have one name."""
    named_data: dict[int, tuple[str, Any]] = {}
    for t in description.tables.values():
        if t.defined:
            for field_name, x in (("axes", t.axes), ("values", t.values)):
                named_data.setdefault(id(x), (f"{field_name} {len(named_data)} {t.room}", x))
    return {**dict(named_data.values()), "ranges": description.ranges}


@cache
def _is_plain_value(kind: Any) -> bool:
    return issubclass(kind, SCALAR_TYPES)


@lru_cache(maxsize=1)
def _package_digest() -> str:
    """Digest of version and files of the package: other files may derive other equations."""
    root = Path(__file__).parents[2]
    files = []
    for folder, _, names in os.walk(root):
        if not folder.endswith("__pycache__"):
            files += [(f"{folder}/{name}", os.stat(f"{folder}/{name}")) for name in names]
    file_states = sorted(
        (path.removeprefix(str(root)), status.st_size, status.st_mtime_ns) for path, status in files
    )
    fingerprint = __version__, platform.python_version(), np.__version__, file_states
    return hashlib.sha256(repr(fingerprint).encode("utf-8", "surrogatepass")).hexdigest()


class _DigestWalk:
    """Numbers of objects and all that they hold, in the order in which they are met: equal objects
    have one number, be they one object or two, as what was read from the cache shares fewer objects
    than what was made here. The digest is that of what was numbered."""

    def __init__(self, numbers: bool, id_names: Mapping[int, str] = NO_KNOWN_OBJECTS) -> None:
        self._numbers, self._known = numbers, id_names
        self._met: dict[Any, int] = {}  # what each number stands for
        self._found: dict[
            int, tuple[int, Any]
        ] = {}  # the object too: an id is good as long as it lives
        self._open: dict[int, int] = {}  # what is being walked through

    def digest(self, thing: Any) -> str:
        root = self.object_number(thing)
        return hashlib.sha256(repr((root, *self._met)).encode("utf-8", "surrogatepass")).hexdigest()

    def object_number(self, thing: Any) -> int:
        kind: Any = type(thing)
        numbers = self._met
        if kind is str:
            return numbers.setdefault(thing, len(numbers))
        if _is_plain_value(kind):
            text = hex(thing) if kind is int else repr(thing)  # of any number of digits
            return numbers.setdefault((kind.__name__, text), len(numbers))
        key = id(thing)
        visited = self._found.get(key)
        if visited is not None:
            return visited[0]
        if key in self._known:
            return numbers.setdefault(("known", self._known[key]), len(numbers))
        if key in self._open:
            return numbers.setdefault(("within", len(self._open) - self._open[key]), len(numbers))
        self._open[key] = len(self._open)
        fields = _fields_alone(kind)
        components = (
            thing if kind is tuple else self._contents(thing) if fields is None else fields(thing)
        )
        number = numbers.setdefault(
            (kind.__name__, "of", *[self.object_number(x) for x in components]), len(numbers)
        )
        del self._open[key]
        self._found[key] = number, thing
        return number

    def _standalone_digest(self, thing: Any) -> str:
        """The digest of something alone, for what has no order."""
        walk = _DigestWalk(self._numbers, self._known)
        walk._open.update(self._open)
        return walk.digest(thing)

    def _contents(self, thing: Any) -> Iterable[Any]:
        if isinstance(thing, Expr):
            return dump_nodes([thing])
        if isinstance(thing, list | tuple):
            return thing
        if isinstance(thing, dict):
            return [x for pair in thing.items() for x in pair]
        if isinstance(thing, set | frozenset):
            return sorted(map(self._standalone_digest, thing))
        if isinstance(thing, np.ndarray):
            return str(thing.dtype), thing.shape, hashlib.sha256(thing.tobytes()).hexdigest()
        if isinstance(thing, Path):
            return (str(thing),)
        if isinstance(thing, ParameterRecord):
            if self._numbers:
                return _instance_state(thing)
            description = thing.units, thing.label, thing.range
            return thing.name, thing.value is None, *description, thing.positive, thing.declared
        if isinstance(thing, RunRecord):
            return _instance_state(thing) if self._numbers else ()
        if isinstance(thing, MethodType):
            return thing.__func__, thing.__self__
        if isinstance(thing, partial):
            return thing.func, thing.args, thing.keywords
        if isinstance(thing, type | FunctionType | BuiltinFunctionType):
            return _named_identity(thing)
        if hasattr(thing, "__wrapped__"):
            return (thing.__wrapped__,)
        if hasattr(thing, "content"):
            return (thing.content(),)
        if type(thing).__module__.startswith(f"{PACKAGE_NAME}."):
            return _instance_state(thing)
        raise NotPortable(f"{type(thing).__module__}.{type(thing).__qualname__}")


def _named_identity(thing: Any) -> list[Any]:
    module = str(thing.__module__)
    if not module.startswith(f"{PACKAGE_NAME}.") and module not in (
        "builtins",
        "math",
        "operator",
        "numpy",
    ):
        raise NotPortable(f"{module}.{thing.__qualname__}")
    identity = [module, thing.__qualname__]
    if isinstance(thing, FunctionType):
        cells = [c.cell_contents for c in thing.__closure__ or ()]
        identity += [
            thing.__code__.co_firstlineno,
            thing.__defaults__,
            thing.__kwdefaults__,
            *cells,
        ]
    return identity


def _instance_state(thing: Any) -> list[Any]:
    """What an object holds, without what it has found meanwhile; of a dataclass the values alone,
    as its type names them."""
    kind: Any = type(thing)
    names = _content_fields(kind)
    if names is not None:
        return [getattr(thing, name) for name in names]
    attributes = dict(vars(thing)) if hasattr(thing, "__dict__") else {}
    for cls in type(thing).__mro__:
        slot_names = getattr(cls, "__slots__", ())
        slots = (slot_names,) if isinstance(slot_names, str) else slot_names
        attributes |= {
            name: getattr(thing, name)
            for name in slots
            if hasattr(thing, name) and name != "__weakref__"
        }
    cached_names = {
        name
        for cls in type(thing).__mro__
        for name, x in vars(cls).items()
        if isinstance(x, cached_property)
    }
    return [x for pair in attributes.items() if pair[0] not in cached_names for x in pair]


@cache
def _fields_alone(kind: Any) -> Callable[[Any], tuple[Any, ...]] | None:
    """The content of dataclasses of which nothing but their fields says it."""
    names = _content_fields(kind)
    is_internal = kind.__module__.startswith(f"{PACKAGE_NAME}.") and not issubclass(
        kind, (*CONTAINER_TYPES, ParameterRecord, RunRecord)
    )
    if (
        names is None
        or len(names) < 2
        or not is_internal
        or hasattr(kind, "content")
        or hasattr(kind, "__wrapped__")
    ):
        return None
    return attrgetter(*names)


@cache
def _content_fields(cls: type) -> tuple[str, ...] | None:
    """Fields of a dataclass that make up its content."""
    if not is_dataclass(cls):
        return None
    return tuple(
        f.name
        for f in fields(cls)
        if f.metadata.get("content", f.compare or not f.name.startswith("_"))
    )
