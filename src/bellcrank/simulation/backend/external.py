"""User functions of a model: what is called, what it remembers, and whether it returned what it
should.

In:  the routines of a program and what a user gives in their place. Out: a function for each,
immutable; `with_own_memory` gives each context of a run or an evaluation memories of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bellcrank.core.errors import BellcrankError, ModelError, RunError, did_you_mean
from bellcrank.model.records import UserFunction
from bellcrank.program.program import SimulationProgram
from bellcrank.program.routine import CallableRoutine
from bellcrank.symbolic.expr.table import Table

Function = Callable[..., Any]


@dataclass(frozen=True)
class ExternalFunction:
    """A user function with the function that is called for it. A call outside of any context has a
    memory of zeros.

    `memory_phase` is 1 for routines that are called for rates, 2 for those that are called for
    outputs and kept values only.
    """

    routine: CallableRoutine
    function: Function
    memory_phase: int

    def __call__(self, *args: float) -> float | tuple[float, ...]:
        return StatefulFunction(self)(*args)


class StatefulFunction:
    """An external function with what it remembers. While `is_writable`, a call may change that;
    else it works on a copy."""

    def __init__(self, external: ExternalFunction) -> None:
        self.routine, self.function, self.memory_phase = (
            external.routine,
            external.function,
            external.memory_phase,
        )
        self.array = np.zeros(self.routine.memory or 0)
        self.is_writable = False

    def __call__(self, *args: float) -> float | tuple[float, ...]:
        arguments: tuple[float | np.ndarray, ...] = args
        if self.routine.memory:
            arguments = (*args, self.array if self.is_writable else self.array.copy())
        try:
            value = self.function(*arguments)
        except BellcrankError:
            raise
        except Exception as error:
            call_text = f"{self.routine.name}({', '.join(f'{a:g}' for a in args)})"
            raise RunError(
                f"external '{call_text}' failed: {type(error).__name__}: {error}"
            ) from error
        return self._check_returned(value)

    def _check_returned(self, value: Any) -> float | tuple[float, ...]:
        names = self.routine.returns
        expected = f"{len(names)} numbers ({', '.join(names)})" if names else "one number"
        try:
            array = np.asarray([[]] if value is None else value, dtype=float)
        except (TypeError, ValueError):
            array = np.empty((0, 0))
        if array.shape != ((len(names),) if names else ()) and not (
            len(names) == 1 and array.ndim == 0
        ):
            raise RunError(
                f"external '{self.routine.name}' must return {expected}, but returned {value!r}"
            )
        return tuple(array.tolist()) if len(names) > 1 else float(array.ravel()[0])


def with_own_memory(functions: Sequence[Function | None]) -> list[Function | None]:
    """The functions with memories of their own, all zero."""
    return [StatefulFunction(f) if isinstance(f, ExternalFunction) else f for f in functions]


def wrap_user_function(
    program: SimulationProgram, routine: CallableRoutine, function: Function
) -> ExternalFunction:
    """A function for a user function of a program."""
    return ExternalFunction(routine, function, program.memory_phase(routine))


def resolve_functions(
    program: SimulationProgram,
    externals: Sequence[UserFunction],
    replacements: Mapping[str, Any],
    model: str,
) -> list[Function | None]:
    """A function for every user function and table of the program, given ones first; None for C or
    Fortran alone."""
    replaced = {k.lower(): v for k, v in replacements.items()}
    for name in replacements:
        if name.lower() not in {e.name.lower() for e in externals}:
            suggestion = did_you_mean(name, [e.name for e in externals])
            raise ModelError(f"external={{'{name}': ...}}: no external has that name.{suggestion}")
    result: list[Function | None] = []
    for routine in program.routines:
        if isinstance(routine, Table):
            result.append(routine.value)
            continue
        function = replaced.get(routine.name.lower(), routine.python)
        if function is None and not routine.given_in("c") and not routine.given_in("fortran"):
            reason = "has no routine: give python=, c=, fortran= or external="
            raise ModelError(f"external '{routine.name}' {reason}", model)
        result.append(None if function is None else wrap_user_function(program, routine, function))
    return result


class NumberSource(Protocol):
    """Numbers of a program, of which the first ones are taken: a list, or a pointer of ctypes."""

    def __getitem__(self, part: slice, /) -> Sequence[float]: ...


class NumberTarget(Protocol):
    """What takes numbers by their places: a list, a dictionary, or a pointer of ctypes."""

    def __setitem__(self, index: int, value: float, /) -> None: ...


def call_routine(
    routine: Any, count: int, live: int, arguments: NumberSource, values: NumberTarget
) -> None:
    """Calls a routine for a program that is not in Python, with so many of the arguments."""
    old_live = getattr(routine, "is_writable", False)
    routine.is_writable = bool(live & getattr(routine, "memory_phase", 1))
    try:
        returned = routine(*arguments[:count])
    finally:
        routine.is_writable = old_live
    for i, value in enumerate(returned if isinstance(returned, tuple) else (returned,)):
        values[i] = value
