"""Kinds of arguments of public calls, read from their annotations: text, mappings, lists of
something, yes or no.

In: a function or a class. Out: the same, which rejects an argument of another kind by its name.
Values (names, numbers, formulas) are checked where they are used; arguments that may be of kinds
not listed here are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import Parameter, signature
from numbers import Integral
from os import PathLike
from types import FunctionType
from typing import Any, ClassVar, ParamSpec, TypeVar

import numpy as np

from bellcrank.choices import text_choice_names
from bellcrank.core.errors import ModelError, did_you_mean

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


Kinds = list[tuple[str, Callable[[Any], bool]]]
USED_LATER = (
    "label",
    "units",
    "dummies",
    "joint",
    "without",
    "generic",
    "when",
    "guess",
    "method",
)  # not by the call


def _is_list(x: Any) -> bool:
    return isinstance(x, Iterable) and not isinstance(x, str | bytes) and getattr(x, "ndim", 1) != 0


_TEXT = ("text", lambda x: isinstance(x, str))
_MAPPING = ("a dictionary {name: value}", lambda x: isinstance(x, Mapping))
_LIST = ("a list", _is_list)
KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "str": _TEXT,
    "Path": ("a path", lambda x: isinstance(x, PathLike)),
    "bool": ("True or False", lambda x: getattr(x, "dtype", type(x)) in (bool, int)),
    "int": ("a whole number", lambda x: isinstance(x, int | Integral)),
    "None": ("None", lambda x: x is None),
    **dict.fromkeys(text_choice_names(), _TEXT),
    **dict.fromkeys(("Mapping", "Parameters", "Inputs"), _MAPPING),
    **dict.fromkeys(("Iterable", "Sequence", "Collection", "tuple"), _LIST),
}


def validate_arguments(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """A function that rejects arguments of other kinds than its annotations name.

    Most are looked at only where the function fails with an error of Python: what it says itself is
    the better message.
    """
    parameters = signature(function).parameters
    tests = {
        name: kind_tests for name, p in parameters.items() if (kind_tests := _allowed_kinds(p))
    }
    late = {name: tests[name] for name in USED_LATER if name in tests}
    order = [name for name in parameters if name != "self"]
    any_name = any(p.kind is Parameter.VAR_KEYWORD for p in parameters.values())

    def check_kinds(
        tests: Mapping[str, Kinds], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> None:
        for name, value in (*zip(parameters, args, strict=False), *kwargs.items()):
            kinds_allowed = tests.get(name)
            if kinds_allowed is not None and not any(test(value) for _, test in kinds_allowed):
                *other_kinds, last = dict.fromkeys(words for words, _ in kinds_allowed)
                kinds = f"{', '.join(other_kinds)} or {last}" if other_kinds else last
                raise ModelError(
                    f"{function.__name__}: {name}={_short_repr(value)} must be {kinds}"
                ) from None

    @wraps(function)
    def call_checked(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        for x in (
            (*args, *kwargs.values()) if kwargs else args
        ):  # a loop: calls for rates take microseconds
            if type(x) is np.ndarray and x.ndim == 0:  # stands for its one value
                return call_checked(
                    *map(_unwrap_scalar, args),
                    **{name: _unwrap_scalar(x) for name, x in kwargs.items()},
                )
        if late:
            check_kinds(late, args, kwargs)
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError, AttributeError):
            for name in () if any_name else kwargs:
                if name not in parameters:
                    suggestion = did_you_mean(name, order)
                    raise TypeError(
                        f"{function.__name__}() has no argument '{name}'.{suggestion}"
                    ) from None
            check_kinds(tests, args, kwargs)
            raise

    return call_checked


class PublicDir:
    """A base of classes whose `internals`, which other modules of the package use, are not listed
    to users."""

    internals: ClassVar[tuple[str, ...]] = ()

    def __dir__(self) -> list[str]:
        hidden = {*self.internals, "internals"}
        return [x for x in super().__dir__() if x not in hidden and (x[:1] != "_" or x[:2] == "__")]


class ValidatedCalls(PublicDir):
    """A base of classes whose public methods, those they inherit too, are `validate_arguments`."""

    def __init_subclass__(cls) -> None:
        for name in dir(cls):
            method = getattr(cls, name)
            if (
                not name.startswith("_")
                and isinstance(method, FunctionType)
                and not hasattr(method, "__wrapped__")
            ):
                setattr(cls, name, validate_arguments(method))


def _allowed_kinds(parameter: Parameter) -> Kinds:
    """What an argument may be; nothing where that is not known, or where there are several of
    it."""
    if parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD) or not isinstance(
        parameter.annotation, str
    ):
        return []
    heads = [
        re.sub(r"\[.*", "", x).strip() for x in re.split(r"\|(?![^\[]*\])", parameter.annotation)
    ]
    if parameter.default is None or {"Parameters", "Inputs"} & {*heads}:
        heads.append("None")
    return [KINDS[x] for x in heads] if all(x in KINDS for x in heads) else []


def _unwrap_scalar(x: Any) -> Any:
    return x.item() if type(x) is np.ndarray and x.ndim == 0 else x


def _short_repr(value: Any) -> str:
    try:
        return f"{value!r:.60}"
    except ValueError:  # an integer of thousands of digits
        return type(value).__name__
