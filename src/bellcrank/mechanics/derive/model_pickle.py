"""Derived models as bytes: objects of Bellcrank, of NumPy and of Python itself, and nothing else.

Expressions are written node by node, parts before wholes, so that depth does not matter and shared
nodes stay shared. Functions that were made inside others are written as the name of their text in
the installed package and the values they hold: the bytes contain no code. Loading rejects every
class and function outside of Bellcrank and the list below; that is a second lock only: bytes must
come from a file that this user alone can have written, as libraries do. What cannot be written,
such as a function of the user, raises `NotPortable`.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MappingProxyType,
    MethodType,
    ModuleType,
)
from typing import Any

from bellcrank.symbolic.expr.collection import no_collection
from bellcrank.symbolic.expr.node import (
    POSITIVE,
    Expr,
    Func,
    NamedSubexpression,
    Number,
    Product,
    Sum,
    Symbol,
)
from bellcrank.symbolic.expr.traversal import postorder

PACKAGE_NAME = "bellcrank"
ALLOWED_GLOBALS: dict[str, set[str]] = {
    "builtins": {
        "set",
        "frozenset",
        "slice",
        "range",
        "complex",
        "bytearray",
        "int",
        "float",
        "str",
        "tuple",
        "list",
        "dict",
        "bool",
        "object",
        "abs",
        "min",
        "max",
        "pow",
        "sum",
    },
    "collections": {"OrderedDict", "defaultdict", "deque", "Counter"},
    "fractions": {"Fraction"},
    "functools": {"partial"},
    "copyreg": {"_reconstructor", "__newobj__"},
    "math": {"sin", "cos", "tan", "sqrt", "exp", "log", "fabs", "atan2"},
    "pathlib": {"PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath", "Path"},
    "types": {"MappingProxyType"},
    "numpy": {"ndarray", "dtype", "float64", "int64", "bool_"},
    "numpy.core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.numeric": {"_frombuffer"},
    "numpy.core.numeric": {"_frombuffer"},
}
HEAD = 8  # bytes of the length of what is always the same
RECURSION_LIMIT = 20_000  # frames of Python while objects are written


class NotPortable(Exception):
    """Something that is not an object of Bellcrank."""


def dumps(thing: Any, externals: dict[str, Any], fixed_objects: Sequence[Any] = ()) -> bytes:
    """The bytes of an object; objects that are `externals` by name are omitted, and put in again by
    `loads`. First come expressions, and objects that are `fixed_objects`, as far as nothing known
    is in them: they are always the same."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    try:
        nodes: dict[Expr, None] = {}
        pending: list[Any] = [thing]
        while pending:  # functions behind nodes may hold further nodes
            survey = _NodeSurvey(pending, externals, nodes)
            new = postorder(survey.new, known=nodes)
            pending = [n.function for n in new if isinstance(n, Func)]
            nodes.update(dict.fromkeys(new))
        fixed_nodes = _nodes_without_known(nodes, externals)
        first = (
            [n for n in nodes if n in fixed_nodes],
            _things_without_known(list(fixed_objects), fixed_nodes, externals),
        )
        target = io.BytesIO()
        writer = _ModelPickler(target)
        writer.dump((first, tuple(externals)))
        size = target.tell()
        memo = writer.memo.copy()
        memo |= {id(x): (len(memo) + i, x) for i, x in enumerate(externals.values())}
        _BackReferencePickler(target, memo).dump(
            ([n for n in nodes if n not in fixed_nodes], thing)
        )
        return size.to_bytes(HEAD, "big") + target.getvalue()
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError) as error:
        raise NotPortable(str(error)) from None
    finally:
        sys.setrecursionlimit(limit)


class PickledModel:
    """What `dumps` has written, to be loaded as often as need be. Objects that are always the same
    are read once, and stay as long as this does."""

    def __init__(self, data: bytes) -> None:
        size = HEAD + int.from_bytes(data[:HEAD], "big")
        reader = _ModelUnpickler(io.BytesIO(data[HEAD:size]), [])
        self._names: tuple[str, ...] = _load_second(reader)
        memo = reader.memo.copy()
        self._first, self._rest = [memo[index] for index in range(len(memo))], data[size:]

    def load_object(self, externals: dict[str, Any]) -> Any:
        """The object; raises NotPortable for anything else."""
        if missing := set(self._names) - externals.keys():
            raise NotPortable(f"{', '.join(missing)} is not known")
        return _load_second(
            _ModelUnpickler(
                io.BytesIO(self._rest), [*self._first, *(externals[name] for name in self._names)]
            )
        )


def loads(data: bytes, externals: dict[str, Any]) -> Any:
    """The object that `dumps` has written; raises NotPortable for anything else."""
    return PickledModel(data).load_object(externals)


def _load_second(reader: pickle.Unpickler) -> Any:
    """The second of two objects, the first of which are expressions that it shares."""
    try:
        with no_collection():
            return reader.load()[1]
    except NotPortable:
        raise
    except Exception as error:  # bytes of any kind may raise anything
        raise NotPortable(f"{type(error).__name__}: {error}") from None


def _nodes_without_known(nodes: Collection[Expr], externals: dict[str, Any]) -> set[Expr]:
    """Those of nodes, parts before wholes, without anything known in them. Functions of one kind
    are looked at together."""
    functions = {
        id(n.function): n.function for n in nodes if isinstance(n, Func) and n.function is not None
    }
    fixed_nodes: set[Expr] = set()
    for kind in {type(f) for f in functions.values()}:
        survey = _NodeSurvey([f for f in functions.values() if type(f) is kind], externals)
        if survey.met or any(
            isinstance(n, Func) and n.function is not None for n in postorder(survey.new)
        ):
            functions = {key: f for key, f in functions.items() if type(f) is not kind}
    for n in nodes:
        is_portable = n.__class__ is not Func or n.function is None or id(n.function) in functions
        if is_portable and fixed_nodes.issuperset(n.parts):
            fixed_nodes.add(n)
    return fixed_nodes


def _things_without_known(
    things: list[Any], fixed_nodes: Container[Expr], externals: dict[str, Any]
) -> list[Any]:
    """The things in which there are only these nodes, and nothing known. Nearly all are: they are
    looked at together, and by halves where that is not so."""
    if _NodeSurvey(things, externals).saw_only(fixed_nodes):
        return things
    middle = len(things) // 2
    return (
        [
            *_things_without_known(things[:middle], fixed_nodes, externals),
            *_things_without_known(things[middle:], fixed_nodes, externals),
        ]
        if middle
        else []
    )


class _ModelPickler(pickle.Pickler):
    def __init__(self, target: io.BytesIO) -> None:
        super().__init__(target, protocol=5)

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, Expr):
            return _reduce_node(thing)
        if isinstance(thing, FunctionType) and "<" in thing.__qualname__:
            cells = tuple(c.cell_contents for c in thing.__closure__ or ())
            code_location = _code_location(thing.__code__, thing.__module__)
            return (
                _rebuild_function,
                (*code_location, len(cells)),
                (cells, thing.__defaults__, thing.__kwdefaults__),
                None,
                None,
                _set_function_state,
            )
        if type(thing).__name__ == "_lru_cache_wrapper" and "<" in thing.__qualname__:
            return _make_cached, (thing.__wrapped__, thing.cache_parameters()["maxsize"])
        if isinstance(thing, MethodType):
            return _bind_method, (thing.__self__, thing.__name__)
        if isinstance(thing, MappingProxyType):
            return MappingProxyType, (dict(thing),)
        if isinstance(thing, type | FunctionType | BuiltinFunctionType):
            _check_allowed(str(getattr(thing, "__module__", "")), thing.__qualname__)
        elif isinstance(thing, ModuleType):
            raise NotPortable(f"the module {thing.__name__}")
        return NotImplemented


class _BackReferencePickler(_ModelPickler):
    """Writes the places of what is not written again, by its id: as the memory of a writer has
    them."""

    def __init__(self, target: io.BytesIO, memo_entries: Mapping[int, tuple[int, Any]]) -> None:
        super().__init__(target)
        self._places = memo_entries

    def persistent_id(self, thing: Any) -> int | None:
        entry = self._places.get(id(thing))
        return None if entry is None else entry[0]


class _NodeSurvey(_ModelPickler):
    """Finds expressions, but for those found before, and whether anything known is met; what it
    writes is thrown away."""

    def __init__(
        self, thing: Any, externals: dict[str, Any], known_nodes: Container[Expr] = frozenset()
    ) -> None:
        super().__init__(io.BytesIO())
        self.new: list[Expr] = []
        self.met, self._before, self._known = (
            False,
            known_nodes,
            {id(x) for x in externals.values()},
        )
        self.dump(thing)

    def persistent_id(self, thing: Any) -> int | None:
        if isinstance(thing, Expr):
            if thing not in self._before:
                self.new.append(thing)
            return 0
        if id(thing) in self._known:
            self.met = True
            return 0
        return None

    def saw_only(self, nodes: Container[Expr]) -> bool:
        """Were only these nodes met, and nothing known?"""
        return not self.met and all(n in nodes for n in self.new)


class _ModelUnpickler(pickle.Unpickler):
    def __init__(self, source: io.BytesIO, memo: list[Any]) -> None:
        super().__init__(source)
        self.persistent_load = memo.__getitem__  # type: ignore[method-assign]

    def find_class(self, module: str, name: str) -> Any:
        _check_allowed(module, name)
        loaded_class = super().find_class(module, name)
        if (
            _is_own_module(module) and getattr(loaded_class, "__module__", module) != module
        ):  # what a module of ours has imported
            raise NotPortable(f"{module}.{name}")
        return loaded_class


def _is_own_module(module: str) -> bool:
    return module == PACKAGE_NAME or module.startswith(f"{PACKAGE_NAME}.")


def _check_allowed(module: str, name: str) -> None:
    if _is_own_module(module) or name in ALLOWED_GLOBALS.get(module, ()):
        return
    raise NotPortable(f"{module}.{name}")


# ---- expressions


def _reduce_node(node: Any) -> tuple[Any, ...]:
    kind = node.__class__
    if kind is Product:
        return Product, (node.coefficient, node.factors)
    if kind is Sum:
        return Sum, (node.terms,)
    if kind is NamedSubexpression:
        return NamedSubexpression, (node.definition,)
    if kind is Symbol:
        return Symbol, (node.name, node.kind, node.order, node.sign == POSITIVE)
    if kind is Number:
        return Number, (node.value,)
    if kind is Func:
        return Func, (node.name, node.args, node.function)
    raise NotPortable(kind.__name__)


# ---- functions inside of others


def _code_location(code: CodeType, module: str) -> tuple[str, str, int]:
    """Where the text of a function stands, by which it is found again."""
    if not module.startswith(f"{PACKAGE_NAME}."):
        raise NotPortable(f"the function {module}.{code.co_qualname}")
    if _nested_codes(module).get((code.co_qualname, code.co_firstlineno)) is not code:
        raise NotPortable(f"the function {module}.{code.co_qualname} is not found again")
    return module, code.co_qualname, code.co_firstlineno


@lru_cache(maxsize=256)
def _nested_codes(module: str) -> dict[tuple[str, int], CodeType | None]:
    """Functions inside of functions of a module by name and line; None where two stand in one
    line."""
    codes: dict[tuple[str, int], CodeType | None] = {}
    for code in _inner_codes(_top_level_codes(vars(import_module(module)).values(), module)):
        key = code.co_qualname, code.co_firstlineno
        codes[key] = code if codes.get(key, code) is code else None
    return codes


def _top_level_codes(things: Iterable[Any], module: str) -> Iterator[CodeType]:
    for thing in things:
        if isinstance(thing, staticmethod | classmethod):
            thing = thing.__func__
        if isinstance(thing, property):
            yield from _top_level_codes(
                [x for x in (thing.fget, thing.fset) if x is not None], module
            )
        elif isinstance(thing, type) and thing.__module__ == module:
            yield from _top_level_codes(vars(thing).values(), module)
        elif (
            wrapped := getattr(thing, "__wrapped__", None) or getattr(thing, "func", None)
        ) is not None:
            yield from _top_level_codes([wrapped], module)
        elif isinstance(thing, FunctionType) and thing.__module__ == module:
            yield thing.__code__


def _inner_codes(codes: Iterable[CodeType]) -> Iterator[CodeType]:
    for code in codes:
        for inner in code.co_consts:
            if isinstance(inner, CodeType):
                yield inner
                yield from _inner_codes([inner])


def _rebuild_function(module: str, name: str, line: int, cells: int) -> FunctionType:
    if not module.startswith(f"{PACKAGE_NAME}."):
        raise NotPortable(f"the function {module}.{name}")
    code = _nested_codes(module).get((name, line))
    if code is None or len(code.co_freevars) != cells:
        raise NotPortable(f"the function {module}.{name} is not there")
    closure = tuple(CellType() for _ in range(cells))
    function = FunctionType(code, vars(import_module(module)), code.co_name, None, closure)
    function.__qualname__ = name
    return function


def _set_function_state(function: FunctionType, state: tuple[Any, Any, Any]) -> None:
    cells, function.__defaults__, function.__kwdefaults__ = state
    for cell, value in zip(function.__closure__ or (), cells, strict=True):
        cell.cell_contents = value


def _bind_method(thing: Any, name: str) -> MethodType:
    method = getattr(type(thing), name, None)
    if not isinstance(method, FunctionType) or not _is_own_module(type(thing).__module__):
        raise NotPortable(f"the method {name} of {type(thing).__qualname__}")
    return MethodType(method, thing)


def _make_cached(function: Any, size: int | None) -> Any:
    return lru_cache(maxsize=size)(function)
