"""Formulas of events as text of C and Fortran: the operations of a run in the package, in the same order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import ClassVar

from bellcrank.emit.c.printer import CPrinter
from bellcrank.expr.formula_steps import ARITHMETIC, COMPARISONS, FormulaStep
from bellcrank.expr.function_table import CALLED, OPERATORS, MathFunction


class EventPrinter(ABC):
    """What the languages have in common; `values` gives the text of every parameter."""

    COLUMN: ClassVar[str]
    FIRST: ClassVar[int] = 0  # column

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
            value = self.COLUMN.format(self.FIRST + step.column)
            return value if step.number == 1 else f"({value}/{self.number(step.number)})"
        if step.op == "value":
            return self.values[step.name]
        if step.op == "number":
            return self.number(step.number)
        if step.op == "neg":
            return f"(-{parts[0]})"
        if step.op in ARITHMETIC:
            return f"({parts[0]} {step.op} {parts[1]})"
        if step.op in COMPARISONS:
            return self.comparison(step.op, parts)
        known = OPERATORS.get(step.op) or CALLED[step.op]
        self.used.add(known.name)
        return self.call(known, parts)

    def number(self, value: float) -> str:
        return repr(value)

    @abstractmethod
    def comparison(self, sign: str, parts: list[str]) -> str:
        """1 if it holds, else 0."""

    @abstractmethod
    def call(self, known: MathFunction, parts: list[str]) -> str:
        """A function of formulas with its arguments."""

    def two_by_two(self, name: str, known: MathFunction, parts: list[str]) -> str:
        """A call; of any number of arguments, two at a time."""
        if known.arity is None:
            return reduce(lambda a, b: f"{name}({a}, {b})", parts)
        return f"{name}({', '.join(parts)})"


class CEventPrinter(EventPrinter):
    """Over a `row` of a run."""

    COLUMN = "row[{}]"

    def comparison(self, sign: str, parts: list[str]) -> str:
        return f"(double)({parts[0]} {sign} {parts[1]})"

    def call(self, known: MathFunction, parts: list[str]) -> str:
        if known.name == "where":
            return f"({parts[0]} != 0.0 ? {parts[1]} : {parts[2]})"
        any_number = CPrinter.ANY if known.arity is None else ""  # nothing is known of the arguments
        return self.two_by_two(known.text("c").name + any_number, known, parts)


class FortranEventPrinter(EventPrinter):
    """Over a `row` of a run."""

    COLUMN, FIRST = "row({})", 1

    def number(self, value: float) -> str:
        return f"{float(value)!r}_dp"

    def comparison(self, sign: str, parts: list[str]) -> str:
        return f"merge(1.0_dp, 0.0_dp, {parts[0]} {sign} {parts[1]})"

    def call(self, known: MathFunction, parts: list[str]) -> str:
        if known.name == "where":
            return f"merge({parts[1]}, {parts[2]}, abs({parts[0]}) > 0.0_dp)"
        name = known.text("fortran").name
        if name == "**":
            return f"({parts[0]}**{parts[1]})"
        return self.two_by_two(name, known, parts)
