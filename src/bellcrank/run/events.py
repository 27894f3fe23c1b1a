"""Conditions as a user writes them: a channel or a formula over channels and parameters, in user units.

A condition is watched for its crossing of zero, or, if it is a comparison, such as "z < 3", for the moment at which it
becomes true (`kernel/event_rule.c`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bellcrank.expr.formula_steps import COMPARISONS, FormulaStep, steps_of
from bellcrank.expr.function_table import CALLED, OPERATORS
from bellcrank.expr.text import Syntax, parse
from bellcrank.names import find_name
from bellcrank.numeric.events import Condition
from bellcrank.run.arrays import for_arrays


def is_strict(given: Any) -> bool:
    """Is a condition a comparison that does not hold for equal values?"""
    return comparison_of(given) in ("<", ">")


def comparison_of(given: Any) -> str:
    """The sign of a condition that is a comparison, else ""."""
    text = str(given)
    op = parse(text).op if "<" in text or ">" in text else ""
    return op if op in COMPARISONS else ""


def read_condition(
    given: Any, columns: Mapping[str, tuple[int, float]], values: Mapping[str, Any], where: str
) -> Condition:
    """A condition over rows for a channel's name or a formula; columns: channel -> (column, factor from user units).
    Values, those of parameters, are read when it is evaluated; `where` begins its errors."""
    return as_function(condition_steps(given, columns, values, where), columns, values)


def condition_steps(
    given: Any, columns: Mapping[str, tuple[int, float]], values: Mapping[str, Any], where: str
) -> tuple[FormulaStep, ...]:
    """A condition step by step, the last one is its value; arguments as of `read_condition`."""
    channel = find_name(given, columns, "channel")
    if channel is not None:  # whose name need not be one of formulas
        column, factor = columns[channel]
        return (FormulaStep("column", column=column, number=factor),)
    syntax = parse(str(given))
    if syntax.op in COMPARISONS:  # becomes true where the difference becomes positive
        a, b = syntax.children
        parts = (a, b) if syntax.op in (">", ">=") else (b, a)
        syntax = Syntax("-", parts, syntax.position, syntax.source)
    return value_steps(syntax, columns, values, where)


def value_steps(
    syntax: Syntax, columns: Mapping[str, tuple[int, float]], values: Mapping[str, Any], where: str
) -> tuple[FormulaStep, ...]:
    """A formula step by step."""
    named = {k: FormulaStep("value", name=k) for k in values}
    named |= {k: FormulaStep("column", column=i, number=factor) for k, (i, factor) in columns.items()}

    def known(shown: str) -> FormulaStep | None:
        found = find_name(shown, named)
        return None if found is None else named[found]

    return steps_of(syntax, known, [*columns, *values], where)


def as_function(
    steps: Sequence[FormulaStep], columns: Mapping[str, tuple[int, float]], values: Mapping[str, Any]
) -> Condition:
    """A formula as a function of rows."""

    def found_by(step: FormulaStep, rows: np.ndarray, found: Sequence[Any]) -> Any:
        if step.op == "column":
            return rows[:, step.column] / step.number
        if step.op == "value":
            return values[step.name]
        return step.number if step.op == "number" else FUNCTIONS[step.op](*[found[i] for i in step.parts])

    def value(rows: np.ndarray) -> np.ndarray:
        found: list[Any] = []
        with np.errstate(all="ignore"):
            for step in steps:
                found.append(found_by(step, rows, found))
        return np.asarray(found[-1], dtype=float)

    value(np.zeros((1, 1 + max(c for c, _ in columns.values()))))  # reports what is wrong before the run
    return value


Number = Callable[[Sequence[float]], float]


def as_number_function(steps: Sequence[FormulaStep], values: Mapping[str, Any]) -> Number | None:
    """A formula as a function of one row, given as a list: the numbers of `as_function`, much sooner. None where a part
    of it has no such form. Where it fails, as in a division by zero, `as_function` has the value."""
    made: list[Number] = []
    for step in steps:
        found = _number_of(step, [made[i] for i in step.parts], [steps[i] for i in step.parts], values)
        if found is None:
            return None
        made.append(found)
    return made[-1]


def _number_of(
    step: FormulaStep, parts: Sequence[Number], given: Sequence[FormulaStep], values: Mapping[str, Any]
) -> Number | None:
    """A step as a function of a row; its parts are such functions, made of the steps that are `given`."""
    column, number, name = step.column, step.number, step.name
    if step.op == "column":
        return (lambda row: row[column]) if number == 1.0 else lambda row: row[column] / number
    if step.op == "value":
        return lambda row: values[name]
    if step.op == "number":
        return lambda row: number
    if step.op == "**":
        return _number_power(parts[0], given)
    if len(parts) == 1:
        return _of_one(step.op, parts[0])
    return _of_two(step.op, *parts) if len(parts) == 2 else None


def _of_one(op: str, a: Number) -> Number | None:
    if op == "neg":
        return lambda row: -a(row)
    if op == "abs":
        return lambda row: abs(a(row))
    if op == "sqrt":
        return _root(a)
    form = FUNCTIONS[op]
    return (lambda row: float(form(a(row)))) if op in ("sin", "cos", "atan") else None  # they warn of nothing


def _root(a: Number) -> Number:
    def root(row: Sequence[float]) -> float:
        x = a(row)
        return math.sqrt(x) if x >= 0.0 else math.nan

    return root


def _of_two(op: str, a: Number, b: Number) -> Number | None:
    made: dict[str, Number] = {
        "+": lambda row: a(row) + b(row),
        "-": lambda row: a(row) - b(row),
        "*": lambda row: a(row) * b(row),
        "/": lambda row: a(row) / b(row),
        "<": lambda row: float(a(row) < b(row)),
        "<=": lambda row: float(a(row) <= b(row)),
        ">": lambda row: float(a(row) > b(row)),
        ">=": lambda row: float(a(row) >= b(row)),
        "min": lambda row: x if (x := a(row)) < (y := b(row)) or x != x else y,
        "max": lambda row: x if (x := a(row)) > (y := b(row)) or x != x else y,
    }
    return made.get(op)


def _number_power(a: Number, given: Sequence[FormulaStep]) -> Number | None:
    """A square; other powers are left to arrays, as the last digits of some depend on who computes them."""
    base, exponent = given
    if exponent.op != "number" or exponent.number != 2.0:
        return None
    column, factor = base.column, base.number
    if base.op == "column" and factor == 1.0:
        return lambda row: row[column] * row[column]
    return lambda row: (x := a(row)) * x


def _power(a: Any, b: Any) -> Any:
    """A power; squares as products, so that they are the same for arrays and numbers on every machine."""
    return a * a if type(b) is float and b == 2.0 else np.power(a, b)


def _as_number(test: Callable[..., Any]) -> Callable[..., Any]:
    """A comparison of arrays as 1 or 0, which can be added."""
    return lambda a, b: np.asarray(test(a, b), dtype=float)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "neg": np.negative,
    **{name: for_arrays(f) for name, f in {**OPERATORS, **CALLED}.items()},
}  # fmt: skip
FUNCTIONS |= {name: _as_number(FUNCTIONS[name]) for name in COMPARISONS}
FUNCTIONS["**"] = _power
