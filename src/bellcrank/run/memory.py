"""External routines of a model: what is called, what it remembers, and whether it returned what it should."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from bellcrank.errors import BellcrankError, ModelError, RunError, did_you_mean
from bellcrank.expr.table import Table
from bellcrank.model.records import Description
from bellcrank.program.program import Program
from bellcrank.program.routine import Routine
from bellcrank.run.stepping import Stepper


class Memory:
    """An external routine with what it remembers. While `live`, a call may change the memory; else it works on a copy.

    `when` is 1 for routines that are called for rates, 2 for those that are called for outputs and kept values only.
    """

    def __init__(self, routine: Routine, function: Callable[..., Any], when: int) -> None:
        self.routine, self.function, self.when = routine, function, when
        self.array = np.zeros(routine.memory or 0)
        self.live = False

    def __call__(self, *args: float) -> Any:
        given: tuple[Any, ...] = args
        if self.routine.memory:
            given = (*args, self.array if self.live else self.array.copy())
        try:
            value = self.function(*given)
        except BellcrankError:
            raise
        except Exception as error:
            shown = ", ".join(f"{a:g}" for a in args)
            raise RunError(
                f"external '{self.routine.name}({shown})' failed: {type(error).__name__}: {error}"
            ) from error
        return self._checked(value)

    def _checked(self, value: Any) -> Any:
        names = self.routine.returns
        wanted = f"{len(names)} numbers ({', '.join(names)})" if names else "one number"
        try:
            array = np.asarray([[]] if value is None else value, dtype=float)
        except (TypeError, ValueError):
            array = np.empty((0, 0))
        if array.shape != ((len(names),) if names else ()) and not (len(names) == 1 and array.ndim == 0):
            raise RunError(f"external '{self.routine.name}' must return {wanted}, but returned {value!r}")
        return tuple(array.tolist()) if len(names) > 1 else float(array.ravel()[0])


class Remembered:
    """Memories of a run, each with the array in which single evaluations find it: marked before a step, put back for a look.

    `rates` are those at the mark.
    """

    def __init__(self, run: Stepper, arrays: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        self.run, self.arrays = run, arrays
        self.rates = run.rates
        self.marked: list[np.ndarray] = []

    def mark(self) -> None:
        self.rates = self.run.rates.copy()
        self.marked = [running.copy() for running, _ in self.arrays]

    @contextmanager
    def back(self) -> Iterator[None]:
        later = [seen.copy() for _, seen in self.arrays]
        try:
            for (_, seen), marked in zip(self.arrays, self.marked, strict=True):
                seen[:] = marked
            yield
        finally:
            for (_, seen), values in zip(self.arrays, later, strict=True):
                seen[:] = values


def routines_of(program: Program, description: Description, external: Mapping[str, Any]) -> list[Any]:
    """A callable for every external routine and table of the program; None where there is only C or Fortran."""
    replaced = {k.lower(): v for k, v in external.items()}
    for name in external:
        if name.lower() not in {e.name.lower() for e in description.externals}:
            known = [e.name for e in description.externals]
            raise ModelError(f"external={{'{name}': ...}}: no external has that name.{did_you_mean(name, known)}")
    result: list[Any] = []
    for routine in program.routines:
        if isinstance(routine, Table):
            result.append(routine.value)
            continue
        function = replaced.get(routine.name.lower(), routine.python)
        if function is None and not routine.given_in("c") and not routine.given_in("fortran"):
            raise ModelError(
                f"external '{routine.name}' has no routine: give python=, c=, fortran= or external=", description.name
            )
        result.append(None if function is None else Memory(routine, function, program.phase(routine)))
    return result
