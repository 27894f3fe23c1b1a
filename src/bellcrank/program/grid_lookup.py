"""A function that is looked up: over a uniform grid, formulas of the place in a cell and of that
cell's numbers.

What of it a program wants decides what is written: values that nobody asks for are not computed, in
any language.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bellcrank.program.operation_count import OperationCount, count_operations
from bellcrank.program.program import SimulationProgram
from bellcrank.program.routine import CallableRoutine
from bellcrank.symbolic.expr import Expr, Number, Symbol, free_symbols

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class GridLookup:
    """Formulas over a grid of one or two arguments.

    `lows`, `highs` and `steps` describe the grid; `rows` (cells, numbers) holds the numbers of
    every cell, with two arguments row by row. In the formulas `places` stand for distances from the
    lower end of the cell, `numbers` for the cell's numbers. Outside of the grid the values are not
    a number, unless there are `beyond` (by how much an argument lies outside its end, else 0) and
    `inside` (1 inside, 0 outside).
    """

    lows: tuple[float, ...]
    highs: tuple[float, ...]
    steps: tuple[float, ...]
    rows: Array
    places: tuple[Symbol, ...]
    numbers: tuple[Symbol, ...]
    values: tuple[Expr, ...]
    beyond: tuple[Symbol, ...] = ()
    inside: tuple[Symbol, ...] = ()

    @property
    def cell_counts(self) -> tuple[int, ...]:
        spans = zip(self.lows, self.highs, self.steps, strict=True)
        return tuple(round((high - low) / step) for low, high, step in spans)

    def restrict(self, value_indices: Sequence[int]) -> tuple[list[int], list[Expr]]:
        """The numbers of a cell that some of the values need, and these values."""
        values = [self.values[i] for i in value_indices]
        used_symbols = {s for v in values for s in free_symbols(v)}
        return [i for i, s in enumerate(self.numbers) if s in used_symbols], values

    def operations(self, value_indices: Sequence[int]) -> OperationCount:
        """Operations of one look-up: the place in the cell, and the values wanted."""
        n = len(self.lows)
        return count_operations([self.values[i] for i in value_indices]) + OperationCount(
            add=2 * n, multiply=2 * n, muldiv_classic=2 * n
        )


class LookupFormulas:
    """A look-up whose formulas are made when a program uses them."""

    def __init__(self, builder: Callable[[], GridLookup]) -> None:
        self._make = builder

    @cached_property
    def function(self) -> GridLookup:
        return self._make()

    def number(self, value: int) -> Number | None:
        """A value that is the same wherever it is looked up."""
        expression = self.function.values[value]
        return expression if isinstance(expression, Number) else None

    def operations(self, value_indices: Sequence[int]) -> OperationCount:
        return self.function.operations(value_indices)


def requested_values(program: SimulationProgram, routine: CallableRoutine) -> list[int]:
    """Which values of a routine a program uses."""
    return sorted(
        {
            i
            for _, call in program.calls_by_routine[routine]
            for i, t in enumerate(call.targets)
            if t is not None
        }
    )


def routine_operations(program: SimulationProgram) -> dict[str, dict[str, int]]:
    """Operations of one call of every routine that is written for a program, by its name: a
    look-up, or one Newton iteration of a linkage; `values` are computed. The call itself counts as
    one function of the program."""
    summaries = {}
    for routine in program.routines:
        if routine.formulas is not None:
            value_indices = requested_values(program, routine)
            operation_counts = routine.formulas.operations(value_indices).as_dict()
            kinds = ("add", "multiply", "divide", "function", "total")
            summaries[routine.name] = {
                **{k: operation_counts[k] for k in kinds},
                "values": len(value_indices),
            }
    return summaries
