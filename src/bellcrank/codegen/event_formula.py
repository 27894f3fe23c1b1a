"""Formulas of events as text of C: the operations of a run in the package, in the same order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from bellcrank.codegen.c.printer import CPrinter
from bellcrank.symbolic.expr.formula_steps import ARITHMETIC, COMPARISONS, FormulaStep
from bellcrank.symbolic.expr.function_table import CALLED, OPERATORS, MathFunction


class CEventPrinter:
    """Over a `row` of a run; `values` gives the text of every parameter."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = values
        self.used: set[str] = set()  # functions

    def formula_source(self, steps: Sequence[FormulaStep]) -> str:
        """The text of a formula."""
        operand_texts: list[str] = []
        for step in steps:
            operand_texts.append(self._step_source(step, [operand_texts[i] for i in step.parts]))
        return operand_texts[-1]

    def _step_source(self, step: FormulaStep, operands: list[str]) -> str:
        if step.op == "column":
            value = f"row[{step.column}]"
            return value if step.number == 1 else f"({value}/{step.number!r})"
        if step.op == "value":
            return self.values[step.name]
        if step.op == "number":
            return repr(step.number)
        if step.op == "neg":
            return f"(-{operands[0]})"
        if step.op in ARITHMETIC:
            return f"({operands[0]} {step.op} {operands[1]})"
        if step.op in COMPARISONS:
            return f"(double)({operands[0]} {step.op} {operands[1]})"
        function = OPERATORS.get(step.op) or CALLED[step.op]
        self.used.add(function.name)
        return self._call_source(function, operands)

    def _call_source(self, function: MathFunction, operands: list[str]) -> str:
        """A function with its arguments; of any number of them, two at a time."""
        if function.name == "where":
            return f"({operands[0]} != 0.0 ? {operands[1]} : {operands[2]})"
        name = function.translation("c").name
        if function.arity is None:  # nothing is known of the arguments
            return reduce(lambda a, b: f"{name}{CPrinter.ANY}({a}, {b})", operands)
        return f"{name}({', '.join(operands)})"
