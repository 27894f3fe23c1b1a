"""Conditions as a user writes them: a channel or a formula over channels and parameters, in user
units.

A condition is watched for its crossing of zero, or, if it is a comparison, such as "z < 3", for the
moment at which it becomes true (`kernel/event_rule.c`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import cast

import numpy as np

from bellcrank.core.name_lookup import find_name
from bellcrank.core.numeric.event_log import Condition
from bellcrank.mechanics.interface.formula_units import FormulaUnits
from bellcrank.simulation.run.array_functions import array_function
from bellcrank.symbolic.expr.formula_parser import SyntaxNode, parse_formula
from bellcrank.symbolic.expr.formula_steps import COMPARISONS, FormulaStep, formula_steps
from bellcrank.symbolic.expr.function_table import CALLED, OPERATORS

Operand = float | np.ndarray


def comparison_operator(condition: object) -> str:
    """The sign of a condition that is a comparison, else ""."""
    text = str(condition)
    op = parse_formula(text).op if "<" in text or ">" in text else ""
    return op if op in COMPARISONS else ""


def compile_condition(
    condition: object,
    columns: Mapping[str, tuple[int, float]],
    values: Mapping[str, float],
    location: str,
    units: FormulaUnits,
) -> tuple[FormulaStep, ...]:
    """A condition over rows, for a channel's name or a formula, step by step: the last one is its
    value. `columns`: a column and a factor from user units, by channel; `values`: those of
    parameters; `location` begins error messages; `units` of all names."""
    channel = find_name(condition, columns, "channel")
    if channel is not None:  # whose name need not be one of formulas
        column, factor = columns[channel]
        return (FormulaStep("column", column=column, number=factor),)
    syntax = parse_formula(str(condition))
    if syntax.op in COMPARISONS:  # becomes true where the difference becomes positive
        a, b = syntax.children
        operands = (a, b) if syntax.op in (">", ">=") else (b, a)
        syntax = SyntaxNode("-", operands, syntax.position, syntax.source)
    return compile_formula(units.shown_term(syntax).syntax, columns, values, location)


def compile_formula(
    syntax: SyntaxNode,
    columns: Mapping[str, tuple[int, float]],
    values: Mapping[str, float],
    location: str,
) -> tuple[FormulaStep, ...]:
    """A formula step by step."""
    operand_steps = {k: FormulaStep("value", name=k) for k in values}
    operand_steps |= {
        k: FormulaStep("column", column=i, number=factor) for k, (i, factor) in columns.items()
    }

    def find_operand(label: str) -> FormulaStep | None:
        match = find_name(label, operand_steps)
        return None if match is None else operand_steps[match]

    return formula_steps(syntax, find_operand, [*columns, *values], location)


def formula_function(
    steps: Sequence[FormulaStep],
    columns: Mapping[str, tuple[int, float]],
    values: Mapping[str, float],
) -> Condition:
    """A formula as a function of rows."""

    def evaluate_step(step: FormulaStep, rows: np.ndarray, results: Sequence[Operand]) -> Operand:
        if step.op == "column":
            return rows[:, step.column] / step.number
        if step.op == "value":
            return values[step.name]
        return (
            step.number
            if step.op == "number"
            else FUNCTIONS[step.op](*[results[i] for i in step.parts])
        )

    def value(rows: np.ndarray) -> np.ndarray:
        results: list[Operand] = []
        with np.errstate(all="ignore"):
            for step in steps:
                results.append(evaluate_step(step, rows, results))
        return np.asarray(results[-1], dtype=float)

    value(
        np.zeros((1, 1 + max(c for c, _ in columns.values())))
    )  # reports what is wrong before the run
    return value


Numbers = Callable[[Sequence[float]], list[float]]


def scalar_formula_function(
    formulas: Sequence[Sequence[FormulaStep]], values: Mapping[str, float]
) -> Numbers | None:
    """Formulas as one function of one row, given as a list: the numbers of `formula_function`, much
    sooner. None where a part of them has no such form. Where it fails, as in a division by zero,
    `formula_function` has the value."""
    lines: list[str] = []
    result_names: list[str] = []
    space: dict[str, object] = {
        "values": values,
        "root": _sqrt_or_nan,
        **{op: FUNCTIONS[op] for op in QUIET},
    }
    for steps in formulas:
        names: list[str] = []
        for step in steps:
            text = _scalar_source(
                step, [names[i] for i in step.parts], [steps[i] for i in step.parts]
            )
            if text is None:
                return None
            names.append(f"x{len(lines)}")
            lines.append(f"    {names[-1]} = {text}\n")
        result_names.append(names[-1])
    source = f"def found(row):\n{''.join(lines)}    return [{', '.join(result_names)}]\n"
    exec(compile(source, "<formulas>", "exec"), space)
    return cast(Numbers, space["found"])


def _scalar_source(
    step: FormulaStep, operands: Sequence[str], operand_steps: Sequence[FormulaStep]
) -> str | None:
    """Return a formula step in Python; `operands` are names of numbers, computed by
    `operand_steps`."""
    if step.op == "column":
        return f"row[{step.column:d}]" + (
            "" if step.number == 1.0 else f" / {_float_literal(step.number)}"
        )
    if step.op == "value":
        return f"values[{step.name!r}]"
    if step.op == "number":
        return _float_literal(step.number)
    if (
        step.op == "**"
    ):  # a square; the last digits of some other powers depend on who computes them
        square = operand_steps[1].op == "number" and operand_steps[1].number == 2.0
        return f"{operands[0]} * {operands[0]}" if square else None
    form = (ONE_NUMBER if len(operands) == 1 else TWO_NUMBERS if len(operands) == 2 else {}).get(
        step.op
    )
    return None if form is None else form.format(*operands)


def _float_literal(x: float) -> str:
    return repr(float(x)) if math.isfinite(x) else f"float('{float(x)}')"


def _sqrt_or_nan(x: float) -> float:
    return math.sqrt(x) if x >= 0.0 else math.nan


QUIET = ("sin", "cos", "atan")  # functions that warn of nothing
ONE_NUMBER = {
    "neg": "-{0}",
    "abs": "abs({0})",
    "sqrt": "root({0})",
    **{op: f"float({op}({{0}}))" for op in QUIET},
}
TWO_NUMBERS = {
    **{op: f"{{0}} {op} {{1}}" for op in "+-*/"},
    **{op: f"float({{0}} {op} {{1}})" for op in COMPARISONS},
    "min": "{0} if {0} < {1} or {0} != {0} else {1}",
    "max": "{0} if {0} > {1} or {0} != {0} else {1}",
}


def _power(a: Operand, b: Operand) -> Operand:
    """A power; squares as products, so that they are the same for arrays and numbers on every
    machine."""
    return a * a if type(b) is float and b == 2.0 else np.power(a, b)


def _as_number(test: Callable[..., Operand]) -> Callable[..., Operand]:
    """A comparison of arrays as 1 or 0, which can be added."""
    return lambda a, b: np.asarray(test(a, b), dtype=float)


FUNCTIONS: dict[str, Callable[..., Operand]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "neg": np.negative,
    **{name: array_function(f) for name, f in {**OPERATORS, **CALLED}.items()},
}
FUNCTIONS |= {name: _as_number(FUNCTIONS[name]) for name in COMPARISONS}
FUNCTIONS["**"] = _power
