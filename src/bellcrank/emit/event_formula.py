"""Formulas of events as text of C: the operations of a run in the package, in the same order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from bellcrank.emit.c.printer import CPrinter
from bellcrank.expr.formula_steps import ARITHMETIC, COMPARISONS, FormulaStep
from bellcrank.expr.function_table import CALLED, OPERATORS, MathFunction


class CEventPrinter:
    """Over a `row` of a run; `values` gives the text of every parameter."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = values
        self.used: set[str] = set()  # functions

    def text(self, steps: Sequence[FormulaStep]) -> str:
        """The text of a formula."""
        found: list[str] = []
        for step in steps:
            found.append(self._step(step, [found[i] for i in step.parts]))
        return found[-1]

    def _step(self, step: FormulaStep, parts: list[str]) -> str:
        if step.op == "column":
            value = f"row[{step.column}]"
            return value if step.number == 1 else f"({value}/{step.number!r})"
        if step.op == "value":
            return self.values[step.name]
        if step.op == "number":
            return repr(step.number)
        if step.op == "neg":
            return f"(-{parts[0]})"
        if step.op in ARITHMETIC:
            return f"({parts[0]} {step.op} {parts[1]})"
        if step.op in COMPARISONS:
            return f"(double)({parts[0]} {step.op} {parts[1]})"
        known = OPERATORS.get(step.op) or CALLED[step.op]
        self.used.add(known.name)
        return self._call(known, parts)

    def _call(self, known: MathFunction, parts: list[str]) -> str:
        """A function with its arguments; of any number of them, two at a time."""
        if known.name == "where":
            return f"({parts[0]} != 0.0 ? {parts[1]} : {parts[2]})"
        name = known.text("c").name
        if known.arity is None:  # nothing is known of the arguments
            return reduce(lambda a, b: f"{name}{CPrinter.ANY}({a}, {b})", parts)
        return f"{name}({', '.join(parts)})"
