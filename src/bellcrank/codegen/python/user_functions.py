"""Source of user functions that were given as Python functions, with what they use from their
module."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any

from bellcrank.core.errors import ModelError

PLAIN = (int, float, bool, str, tuple, list, dict, type(None))
ALLOWED = ("math", "numpy", "cmath", "bisect", "functools", "itertools")


def function_source(function: Callable[..., Any], routine: str, prefix: str) -> tuple[str, str]:
    """Source of a function and its name there; what it uses comes along under names of its own."""
    if not isinstance(function, FunctionType):
        raise _unsupported_function_error(routine, "it is not a plain function")
    segments: list[str] = []
    names: dict[str, str] = {}
    name = _collect_source(function, routine, prefix, segments, names)
    return "\n\n".join(segments), name


def _collect_source(
    function: FunctionType, routine: str, prefix: str, segments: list[str], names: dict[str, str]
) -> str:
    if function.__closure__:
        raise _unsupported_function_error(
            routine, f"'{function.__name__}' uses variables of the function around it"
        )
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        raise _unsupported_function_error(
            routine, f"the source of '{function.__name__}' is not at hand"
        ) from None
    if not source.startswith("def "):
        raise _unsupported_function_error(routine, f"'{function.__name__}' is not written with def")
    prefixed_name = f"{prefix}_{function.__name__}"
    names[function.__name__] = prefixed_name
    for global_name in sorted(_global_names(function.__code__)):
        if global_name in names or global_name not in function.__globals__:
            continue
        value = function.__globals__[global_name]
        if isinstance(value, ModuleType):
            if value.__name__.partition(".")[0] not in ALLOWED:
                raise _unsupported_function_error(routine, f"it uses the module {value.__name__}")
            segments.append(f"import {value.__name__} as {prefix}_{global_name}")
        elif isinstance(value, FunctionType):
            if value.__module__ != function.__module__:
                raise _unsupported_function_error(
                    routine, f"it uses '{global_name}' of another module"
                )
            _collect_source(value, routine, prefix, segments, names)
            continue
        elif isinstance(value, PLAIN):
            segments.append(f"{prefix}_{global_name} = {value!r}")
        elif callable(value) and getattr(value, "__module__", "") in ALLOWED:
            segments.append(
                f"from {value.__module__} import {global_name} as {prefix}_{global_name}"
            )
        else:
            raise _unsupported_function_error(
                routine, f"it uses '{global_name}', a {type(value).__name__}"
            )
        names[global_name] = f"{prefix}_{global_name}"
    for old, new in names.items():
        source = re.sub(rf"(?<![\w.'\"]){re.escape(old)}(?=\W)", new, source)
    segments.append(source.rstrip() + "\n")
    return prefixed_name


def _global_names(code: CodeType) -> set[str]:
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return {*code.co_names}.union(*(_global_names(c) for c in inner))


def _unsupported_function_error(routine: str, reason: str) -> ModelError:
    return ModelError(
        f"the user function '{routine}' cannot be written into a Python program: {reason}. "
        f"Use a plain function that"
        " needs nothing but numbers, functions next to it, and the modules math and numpy."
    )
