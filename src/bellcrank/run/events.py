"""Conditions as a user writes them: a channel or a formula over channels and parameters, in user units.

A condition is watched for its crossing of zero, or, if it is a comparison, such as "z < 3", for the moment at which it
becomes true (`numeric/events.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.errors import ModelError, did_you_mean
from bellcrank.expr.function_table import CALLED, OPERATORS
from bellcrank.expr.text import Syntax, evaluate_syntax, parse
from bellcrank.interface.interface import key_of
from bellcrank.model.formula import show
from bellcrank.numeric.events import Condition
from bellcrank.run.arrays import for_arrays

COMPARISONS = ("<", "<=", ">", ">=")


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


@dataclass(frozen=True)
class Step:
    """A part of a formula: a `column` of rows over its factor, the `value` of a parameter, a `number`, or a function of
    earlier steps, named or by its sign."""

    op: str
    parts: tuple[int, ...] = ()
    column: int = -1
    number: float = 1.0  # itself, or the factor of a column
    name: str = ""  # of the parameter


def condition_steps(
    given: Any, columns: Mapping[str, tuple[int, float]], values: Mapping[str, Any], where: str
) -> tuple[Step, ...]:
    """A condition step by step, the last one is its value; arguments as of `read_condition`."""
    channel = next((x for k, x in columns.items() if key_of(k) == key_of(given)), None)
    if channel is not None:  # whose name need not be one of formulas
        return (Step("column", column=channel[0], number=channel[1]),)
    syntax = parse(str(given))
    if syntax.op in COMPARISONS:  # becomes true where the difference becomes positive
        a, b = syntax.children
        parts = (a, b) if syntax.op in (">", ">=") else (b, a)
        syntax = Syntax("-", parts, syntax.position, syntax.source)
    return value_steps(syntax, columns, values, where)


def value_steps(
    syntax: Syntax, columns: Mapping[str, tuple[int, float]], values: Mapping[str, Any], where: str
) -> tuple[Step, ...]:
    """A formula step by step."""
    known = {key_of(k): v for k, v in columns.items()}
    numbers = {key_of(k): k for k in values}
    steps: list[Step] = []

    def nothing_called(shown: str) -> ModelError:
        near = did_you_mean(shown, [*columns, *values])
        return ModelError(f"{where}: no channel or parameter is called '{shown}'.{near}")

    def place(step: Step) -> int:
        steps.append(step)
        return len(steps) - 1

    def meaning(node: Syntax, parts: list[Any]) -> Any:
        """The place of a part among the steps; a name that is no number is left as it is."""
        key = key_of(show(node)) if node.op in ("name", "call") else ""
        if key in known:
            column, factor = known[key]
            return place(Step("column", column=column, number=factor))
        if node.op == "name":
            if key in numbers:
                return place(Step("value", name=numbers[key]))
            return place(Step("number", number=math.pi)) if key == "pi" else node  # a body within q(body) is no number
        unknown = next((p for p in parts if isinstance(p, Syntax)), node)
        if node.op == "number":
            return place(Step("number", number=float(node.args[0])))
        name = str(node.args[0]).lower() if node.op == "call" else node.op
        if name not in FUNCTIONS or unknown is not node:
            raise nothing_called(show(unknown))
        if node.op == "call" and not CALLED[name].takes(len(parts)):
            raise node.fail(f"{where}: {show(node)} has {len(parts)} arguments")
        return place(Step(name, tuple(parts)))

    last = evaluate_syntax(syntax, meaning)
    if isinstance(last, Syntax):
        raise nothing_called(show(syntax))
    return tuple(steps)


def as_function(
    steps: Sequence[Step], columns: Mapping[str, tuple[int, float]], values: Mapping[str, Any]
) -> Condition:
    """A formula as a function of rows."""

    def found_by(step: Step, rows: np.ndarray, found: Sequence[Any]) -> Any:
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

    value(np.zeros((1, 1 + max(c for c, _ in columns.values()))))  # tells what is wrong before the run
    return value


def _as_number(test: Callable[..., Any]) -> Callable[..., Any]:
    """A comparison of arrays as 1 or 0, which can be added."""
    return lambda a, b: np.asarray(test(a, b), dtype=float)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "neg": np.negative,
    **{name: for_arrays(f) for name, f in {**OPERATORS, **CALLED}.items()},
}  # fmt: skip
FUNCTIONS |= {name: _as_number(FUNCTIONS[name]) for name in COMPARISONS}
