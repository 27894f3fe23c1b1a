"""Tables asked outside of their points during a run: found afterwards at recorded rows, so that
runs cost no more.

Of the program only what leads to the arguments of tables is taken, however the model itself runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from types import FunctionType
from typing import Any

import numpy as np

from bellcrank.core.numeric.run_spec import At
from bellcrank.program.program import SimulationProgram
from bellcrank.program.program_functions import KINDS
from bellcrank.program.routine import CallableRoutine
from bellcrank.program.statements import EMPTY_SECTION, Section, prune_section
from bellcrank.simulation.backend.protocol import ProgramCalls
from bellcrank.simulation.backend.python_model import PythonModel
from bellcrank.simulation.run.argument_checks import (
    program_arguments_of_row,
    program_arguments_of_rows,
)
from bellcrank.simulation.run.array_functions import array_function
from bellcrank.symbolic.expr import Expr, Number
from bellcrank.symbolic.expr.function_table import FUNCTIONS
from bellcrank.symbolic.expr.table import Table

ROWS = 200  # that are looked at


class TableRangeCheck:
    """The arguments of all tables of a program, which is printed no further than these need."""

    def __init__(self, program: SimulationProgram) -> None:
        self.program = program
        table_calls = [x for x in program.table_arguments if not _on_grid_points(*x)]
        self.checked_arguments = [(table, axis) for table, _ in table_calls for axis in table.axes]
        self._arguments = [a for _, arguments in table_calls for a in arguments]

    @cached_property
    def _argument_program(self) -> SimulationProgram:
        """The program whose outputs are the arguments."""
        p = self.program
        argument_section = prune_section(
            Section((), tuple(self._arguments)), (*p.derivatives.statements, *p.outputs.statements)
        )
        names = tuple(f"argument {i}" for i in range(len(self._arguments)))
        empty_sections: dict[str, Any] = {
            name: EMPTY_SECTION for name in KINDS if name not in ("constants", "outputs")
        }
        return replace(p, outputs=argument_section, output_names=names, **empty_sections)

    @cached_property
    def _argument_model(self) -> PythonModel:
        return PythonModel(
            self._argument_program,
            [r.value if isinstance(r, Table) else _nan_function(r) for r in self.program.routines],
        )

    @cached_property
    def _array_outputs(self) -> Callable[..., list[float | np.ndarray]]:
        """The arguments of all tables as a function of columns instead of numbers."""
        module = vars(self._argument_model.module)
        functions = {
            f.translation("python").name: array_function(f)
            for f in FUNCTIONS.values()
            if f.translation("python").name in module
        }
        functions |= {name: array_function(FUNCTIONS[name]) for name in ("min", "max")}
        return FunctionType(module["outputs"].__code__, {**module, **functions})

    def _argument_values(
        self, rows: np.ndarray, p: Sequence[float], c: Sequence[float]
    ) -> np.ndarray:
        """What the tables were asked at, a row for each argument: all at once, or where choices
        depend on values one by one."""
        try:
            with np.errstate(all="ignore"):
                tables = [
                    np.vectorize(f, otypes=[float])
                    for f in self._argument_model.functions
                    if f is not None
                ]
                values = self._array_outputs(
                    *program_arguments_of_rows(self.program, rows.T, p, c), tables
                )
            return np.array([np.broadcast_to(x, len(rows)) for x in values], dtype=float)
        except (ArithmeticError, ValueError, TypeError):
            model = self._argument_model.new_calls()
            return np.array(
                [
                    _outputs_or_nan(model, program_arguments_of_row(self.program, row, p, c))
                    for row in rows
                ]
            ).T

    def lookups_outside_range(
        self, rows: np.ndarray, p: Sequence[float], c: Sequence[float]
    ) -> list[str]:
        """A message for each table asked outside its points. What depends on user functions is not
        looked at."""
        if not self.checked_arguments or rows.shape[1] < 2:
            return []
        sampled_rows = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), ROWS)).astype(int))
        argument_values = self._argument_values(rows[sampled_rows], p, c)
        farthest: dict[str, tuple[float, str]] = {}
        for (table, axis), values in zip(self.checked_arguments, argument_values, strict=True):
            overshoot = np.maximum(axis[0] - values, values - axis[-1])
            i = int(np.argmax(np.where(np.isnan(overshoot), -math.inf, overshoot)))
            name = table.given.name
            if (
                overshoot[i] > 1e-9 * (axis[-1] - axis[0])
                and overshoot[i] > farthest.get(name, (0.0, ""))[0]
            ):
                extrapolation = (
                    "extrapolated linearly" if len(table.axes) == 1 else "held at the end value"
                )
                range_text = (
                    f"evaluated at {values[i]:.6g}, outside its range {axis[0]:g} to {axis[-1]:g}"
                )
                farthest[name] = (
                    float(overshoot[i]),
                    f"table '{name}' was {range_text}; values were {extrapolation}",
                )
        return [sentence for _, sentence in farthest.values()]


def _on_grid_points(table: Table, arguments: Iterable[Expr]) -> bool:
    """Is it asked at one of its points, as tables of coefficients are?"""
    return all(
        isinstance(a, Number) and a.value in axis
        for a, axis in zip(arguments, table.axes, strict=True)
    )


def _outputs_or_nan(model: ProgramCalls, program_arguments: At) -> list[float]:
    try:
        return model.outputs(*program_arguments)
    except (ArithmeticError, ValueError):
        return [math.nan] * len(model.program.output_names)


def _nan_function(routine: CallableRoutine) -> Callable[..., Any]:
    """In place of a user function, which is not called again."""
    count = len(routine.returns)
    return lambda *_: math.nan if count <= 1 else (math.nan,) * count
