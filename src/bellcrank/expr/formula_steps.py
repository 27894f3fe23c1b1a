"""Formulas step by step, as plain data: what is evaluated over rows of a run, and what is printed into programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from bellcrank.errors import ModelError, did_you_mean
from bellcrank.expr.function_table import CALLED, OPERATORS, MathFunction
from bellcrank.expr.text import Syntax, evaluate_syntax, parse, show

ARITHMETIC = ("+", "-", "*", "/", "neg")
COMPARISONS = ("<", "<=", ">", ">=")


@dataclass(frozen=True)
class FormulaStep:
    """A part of a formula: a `column` of rows over its factor, the `value` of a parameter, a `number`, or a function of
    earlier steps, named or by its sign."""

    op: str
    parts: tuple[int, ...] = ()
    column: int = -1
    number: float = 1.0  # itself, or the factor of a column
    name: str = ""  # of the parameter


def steps_of(
    syntax: Syntax, lookup: Callable[[str], FormulaStep | None], hints: Iterable[str], label: str
) -> tuple[FormulaStep, ...]:
    """A formula step by step, the last one is its value. `lookup`: the step for a name, or for a call that is a name as
    well, such as q(body); `hints`: names that could be meant instead; `label` begins errors. Abbreviations are written
    out, so that all who read the steps compute alike."""
    steps: list[FormulaStep] = []

    def nothing_called(name_text: str) -> ModelError:
        return ModelError(
            f"{label}: no channel or parameter is called '{name_text}'.{did_you_mean(name_text, [*hints])}"
        )

    def place(step: FormulaStep) -> int:
        steps.append(step)
        return len(steps) - 1

    def meaning(node: Syntax, operands: list[Any]) -> Any:
        """The place of a part among the steps; a name that is no number is left as it is."""
        step = lookup(show(node)) if node.op in ("name", "call") else None
        if step is not None:
            return place(step)
        if node.op == "name":  # a body within q(body) is no number
            return place(FormulaStep("number", number=math.pi)) if show(node).lower() == "pi" else node
        unknown = next((p for p in operands if isinstance(p, Syntax)), node)
        if node.op == "number":
            return place(FormulaStep("number", number=float(node.args[0])))
        name = str(node.args[0]).lower() if node.op == "call" else node.op
        if name not in (*ARITHMETIC, *OPERATORS, *CALLED):  # q(bdoy): of states it is the whole name that is unknown
            raise nothing_called(show(node))
        if unknown is not node:
            raise nothing_called(show(unknown))
        if node.op == "call" and not CALLED[name].takes(len(operands)):
            raise node.fail(f"{label}: {show(node)} has {len(operands)} arguments")
        if node.op == "call" and CALLED[name].macro:
            return written_out(CALLED[name], operands)
        return place(FormulaStep(name, tuple(operands)))

    def written_out(macro: MathFunction, arguments: list[Any]) -> Any:
        """The place of what an abbreviation stands for."""
        names = dict(zip(macro.names, arguments, strict=True))
        return evaluate_syntax(
            parse(macro.in_terms),
            lambda node, inner: names[show(node)] if node.op == "name" else meaning(node, inner),
        )

    last = evaluate_syntax(syntax, meaning)
    if isinstance(last, Syntax):
        raise nothing_called(show(syntax))
    return tuple(steps)
