"""Formulas step by step, as plain data: what is evaluated over rows of a run, and what is printed
into programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.symbolic.expr.formula_parser import (
    SyntaxNode,
    evaluate_syntax,
    parse_formula,
    syntax_to_text,
)
from bellcrank.symbolic.expr.function_table import CALLED, OPERATORS, MathFunction

ARITHMETIC = ("+", "-", "*", "/", "neg")
COMPARISONS = ("<", "<=", ">", ">=")


@dataclass(frozen=True)
class FormulaStep:
    """A part of a formula: a `column` of rows over its factor, the `value` of a parameter, a
    `number`, or a function of earlier steps, named or by its sign."""

    op: str
    parts: tuple[int, ...] = ()
    column: int = -1
    number: float = 1.0  # itself, or the factor of a column
    name: str = ""  # of the parameter


def formula_steps(
    syntax: SyntaxNode,
    lookup: Callable[[str], FormulaStep | None],
    hints: Iterable[str],
    label: str,
) -> tuple[FormulaStep, ...]:
    """A formula step by step, the last one is its value. `lookup`: the step for a name, or for a
    call that is a name as well, such as q(body); `hints`: names that could be meant instead;
    `label` begins errors. Abbreviations are written out, so that all who read the steps compute
    alike."""
    steps: list[FormulaStep] = []

    def unknown_name_error(name_text: str) -> ModelError:
        return ModelError(
            f"{label}: no channel or parameter is called "
            f"'{name_text}'.{did_you_mean(name_text, [*hints])}"
        )

    def append_step(step: FormulaStep) -> int:
        steps.append(step)
        return len(steps) - 1

    def visit_node(node: SyntaxNode, operands: list[Any]) -> Any:
        """The place of a part among the steps; a name that is no number is left as it is."""
        step = lookup(syntax_to_text(node)) if node.op in ("name", "call") else None
        if step is not None:
            return append_step(step)
        if node.op == "name":  # a body within q(body) is no number
            return (
                append_step(FormulaStep("number", number=math.pi))
                if syntax_to_text(node).lower() == "pi"
                else node
            )
        unknown = next((p for p in operands if isinstance(p, SyntaxNode)), node)
        if node.op == "number":
            return append_step(FormulaStep("number", number=float(node.args[0])))
        name = str(node.args[0]).lower() if node.op == "call" else node.op
        if name not in (
            *ARITHMETIC,
            *OPERATORS,
            *CALLED,
        ):  # q(bdoy): of states it is the whole name that is unknown
            raise unknown_name_error(syntax_to_text(node))
        if unknown is not node:
            raise unknown_name_error(syntax_to_text(unknown))
        if node.op == "call" and not CALLED[name].accepts_count(len(operands)):
            raise node.error_at_node(
                f"{label}: {syntax_to_text(node)} has {len(operands)} arguments"
            )
        if node.op == "call" and CALLED[name].macro:
            return expand_macro(CALLED[name], operands)
        return append_step(FormulaStep(name, tuple(operands)))

    def expand_macro(macro: MathFunction, arguments: list[Any]) -> Any:
        """The place of what an abbreviation stands for."""
        names = dict(zip(macro.argument_names, arguments, strict=True))
        return evaluate_syntax(
            parse_formula(macro.in_terms),
            lambda node, inner: (
                names[syntax_to_text(node)] if node.op == "name" else visit_node(node, inner)
            ),
        )

    last = evaluate_syntax(syntax, visit_node)
    if isinstance(last, SyntaxNode):
        raise unknown_name_error(syntax_to_text(syntax))
    return tuple(steps)
