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


def comparison_of(given: Any) -> str:
    """The sign of a condition that is a comparison, else ""."""
    text = str(given)
    op = parse(text).op if "<" in text or ">" in text else ""
    return op if op in COMPARISONS else ""


def condition_steps(
    given: Any, columns: Mapping[str, tuple[int, float]], values: Mapping[str, Any], where: str
) -> tuple[FormulaStep, ...]:
    """A condition over rows, for a channel's name or a formula, step by step: the last one is its value. `columns`: a
    column and a factor from user units, by channel; `values`: those of parameters; `where` begins errors."""
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


Numbers = Callable[[Sequence[float]], list[float]]


def as_number_function(formulas: Sequence[Sequence[FormulaStep]], values: Mapping[str, Any]) -> Numbers | None:
    """Formulas as one function of one row, given as a list: the numbers of `as_function`, much sooner. None where a
    part of them has no such form. Where it fails, as in a division by zero, `as_function` has the value."""
    lines: list[str] = []
    ends: list[str] = []
    space: dict[str, Any] = {"values": values, "root": _root, **{op: FUNCTIONS[op] for op in QUIET}}
    for steps in formulas:
        names: list[str] = []
        for step in steps:
            text = _number_text(step, [names[i] for i in step.parts], [steps[i] for i in step.parts])
            if text is None:
                return None
            names.append(f"x{len(lines)}")
            lines.append(f"    {names[-1]} = {text}\n")
        ends.append(names[-1])
    source = f"def found(row):\n{''.join(lines)}    return [{', '.join(ends)}]\n"
    exec(compile(source, "<formulas>", "exec"), space)
    found: Numbers = space["found"]
    return found


def _number_text(step: FormulaStep, parts: Sequence[str], given: Sequence[FormulaStep]) -> str | None:
    """A step in Python; its parts are names of numbers, made by the steps that are `given`."""
    if step.op == "column":
        return f"row[{step.column:d}]" + ("" if step.number == 1.0 else f" / {_written(step.number)}")
    if step.op == "value":
        return f"values[{step.name!r}]"
    if step.op == "number":
        return _written(step.number)
    if step.op == "**":  # a square; the last digits of some other powers depend on who computes them
        square = given[1].op == "number" and given[1].number == 2.0
        return f"{parts[0]} * {parts[0]}" if square else None
    form = (ONE_NUMBER if len(parts) == 1 else TWO_NUMBERS if len(parts) == 2 else {}).get(step.op)
    return None if form is None else form.format(*parts)


def _written(x: float) -> str:
    return repr(float(x)) if math.isfinite(x) else f"float('{float(x)}')"


def _root(x: float) -> float:
    return math.sqrt(x) if x >= 0.0 else math.nan


QUIET = ("sin", "cos", "atan")  # functions that warn of nothing
ONE_NUMBER = {"neg": "-{0}", "abs": "abs({0})", "sqrt": "root({0})", **{op: f"float({op}({{0}}))" for op in QUIET}}
TWO_NUMBERS = {
    **{op: f"{{0}} {op} {{1}}" for op in "+-*/"},
    **{op: f"float({{0}} {op} {{1}})" for op in COMPARISONS},
    "min": "{0} if {0} < {1} or {0} != {0} else {1}",
    "max": "{0} if {0} > {1} or {0} != {0} else {1}",
}


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
