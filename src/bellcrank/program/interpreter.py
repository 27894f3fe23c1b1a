"""Runs a program directly: slow, plain, and the reference for all printers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bellcrank.core.errors import InternalError
from bellcrank.core.numeric.null_space import constrained_rates
from bellcrank.program.program import SimulationProgram
from bellcrank.program.statements import AssignStatement, CallStatement, NullSpaceSolve, Section
from bellcrank.symbolic.expr import Expr, Symbol
from bellcrank.symbolic.expr.evaluate import evaluate_with_cache


def evaluate_constants(
    program: SimulationProgram, parameters: Sequence[float]
) -> dict[Expr, float]:
    """Values of parameters and of the constants made from them."""
    values: dict[Expr, float] = dict(zip(program.parameters, map(float, parameters), strict=True))
    return _run_section(program.constants, values, {})


def evaluate_derivatives(
    program: SimulationProgram,
    constant_values: Mapping[Expr, float],
    t: float,
    q: Sequence[float],
    u: Sequence[float],
    inputs: Sequence[float] = (),
    user: Mapping[str, Callable[..., Any]] | None = None,
) -> tuple[list[float], dict[Expr, float]]:
    """Rates of all states, and every value met on the way."""
    values: dict[Expr, float] = dict(constant_values)
    values[Symbol("t", "time")] = t
    values.update(zip(program.coordinates, map(float, q), strict=True))
    values.update(zip(program.speeds, map(float, u), strict=True))
    values.update(zip(program.inputs, map(float, inputs), strict=True))
    values = _run_section(program.derivatives, values, user or {})
    return evaluate_with_cache(program.derivatives.results, values, user or {}), values


def evaluate_outputs(
    program: SimulationProgram,
    values: Mapping[Expr, float],
    user: Mapping[str, Callable[..., Any]] | None = None,
) -> list[float]:
    """Extra channels, from the values that `evaluate_derivatives` left."""
    values = _run_section(program.outputs, dict(values), user or {})
    return evaluate_with_cache(program.outputs.results, values, user or {})


def _run_section(
    section: Section, values: dict[Expr, float], user: Mapping[str, Callable[..., Any]]
) -> dict[Expr, float]:
    for s in section.statements:
        if isinstance(s, AssignStatement):
            values[s.target] = evaluate_with_cache((s.value,), values, user)[0]
        elif isinstance(s, CallStatement):
            arguments = evaluate_with_cache(s.arguments, values, user)
            function = user.get(s.routine.name) or s.routine.python
            if function is None:
                raise InternalError(
                    f"external '{s.routine.name}' cannot be interpreted: it is not given in Python"
                )
            returned = np.atleast_1d(function(*arguments))
            for target, value in zip(s.targets, returned, strict=True):
                if target is not None:
                    values[target] = float(value)
        elif isinstance(s, NullSpaceSolve):
            numbers = [
                [evaluate_with_cache(row, values, user) for row in rows]
                for rows in (s.mass, s.rows)
            ]
            right_sides = (
                evaluate_with_cache(s.force, values, user),
                evaluate_with_cache(s.right, values, user),
            )
            k = s.scales
            rates = constrained_rates(
                numbers[0],
                right_sides[0],
                numbers[1],
                right_sides[1],
                k.rank_v,
                k.rows,
                k.columns,
                k.regular_pivot_ratio,
            )
            values.update(zip(s.targets, rates, strict=True))
        else:
            matrix = np.array([evaluate_with_cache(row, values, user) for row in s.matrix])
            solution = np.linalg.solve(matrix, np.array(evaluate_with_cache(s.right, values, user)))
            values.update(zip(s.targets, map(float, solution), strict=True))
    return values
