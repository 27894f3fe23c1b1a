"""Units of what the actions of events set, checked as far as they are definite: values there are in
user units.

A bare number takes the unit that its sum needs; through one that multiplies, nothing is known any
more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from bellcrank.core.errors import ModelError
from bellcrank.core.name_lookup import find_name
from bellcrank.core.units import ANGLE, ONE, Dimension, Unit
from bellcrank.symbolic.expr.formula_parser import SyntaxNode, evaluate_syntax, syntax_to_text
from bellcrank.symbolic.expr.function_table import CALLED

NUMBER = "number"
Found = Unit | str | None  # None: not known
SAME = 1e-9  # share by which factors of one unit may differ


def check_action_units(
    syntax: SyntaxNode, units: Mapping[str, Unit], target: Unit, location: str
) -> None:
    """An error if a formula over quantities with units cannot be a value of what it is to set."""

    def meaning(node: SyntaxNode, operands: list[Found]) -> Found:
        name = find_name(syntax_to_text(node), units) if node.op in ("name", "call") else None
        if name is not None:
            return None if units[name].text == "?" else units[name]
        if node.op in ("name", "number"):
            return NUMBER
        return _combined_unit(node, operands, location)

    _common_unit(
        [evaluate_syntax(syntax, meaning), target],
        [syntax_to_text(syntax), "what it sets"],
        location,
    )


def _combined_unit(node: SyntaxNode, operands: list[Found], location: str) -> Found:
    """The unit of an operation or a function."""
    op = str(node.args[0]).lower() if node.op == "call" else node.op
    texts = [syntax_to_text(c) for c in node.children]
    if op == "neg":
        return operands[0]
    if op in ("+", "-"):
        return _common_unit(operands, texts, location)
    if op in ("*", "/"):
        a, b = operands
        if not isinstance(a, Unit) or not isinstance(b, Unit):
            return NUMBER if a == b == NUMBER else None
        d = a.dimension * b.dimension if op == "*" else a.dimension / b.dimension
        return _anonymous_unit(d, a.factor * b.factor if op == "*" else a.factor / b.factor)
    if op in ("**", "^"):
        base, power = operands[0], node.children[1]
        if not isinstance(base, Unit) or power.op != "number":
            return NUMBER if base == NUMBER else None
        exponent = Fraction(power.args[0]).limit_denominator(12)
        return _anonymous_unit(base.dimension**exponent, base.factor ** float(exponent))
    if op not in CALLED:
        return None
    return _function_unit(op, operands, texts, location)


def _function_unit(op: str, arguments: list[Found], texts: list[str], location: str) -> Found:
    argument_kinds, result_kind = CALLED[op].dimension_kinds
    kinds = [argument_kinds[min(i, len(argument_kinds) - 1)] for i in range(len(arguments))]
    for kind, argument, text in zip(kinds, arguments, texts, strict=True):
        if kind in ("1", "A") and isinstance(argument, Unit):
            _common_unit(
                [argument, _anonymous_unit(ANGLE if kind == "A" else ONE, 1.0)],
                [text, f"what {op} takes"],
                location,
            )
    like_arguments = [(p, t) for k, p, t in zip(kinds, arguments, texts, strict=True) if k == "x"]
    x = (
        _common_unit([p for p, _ in like_arguments], [t for _, t in like_arguments], location)
        if like_arguments
        else None
    )
    if result_kind == "x":
        return x
    if result_kind.startswith("x**") and isinstance(x, Unit):
        power = Fraction(result_kind[3:].strip("()"))
        return _anonymous_unit(x.dimension**power, x.factor ** float(power))
    return (
        _anonymous_unit(ANGLE if result_kind == "A" else ONE, 1.0)
        if result_kind in ("1", "A")
        else None
    )


def _common_unit(operands: Sequence[Found], texts: Sequence[str], location: str) -> Found:
    """The unit of parts that must have one."""
    definite = [(p, t) for p, t in zip(operands, texts, strict=True) if isinstance(p, Unit)]
    for unit, text in definite[1:]:
        first, first_text = definite[0]
        if not first.dimension.same_kind(unit.dimension) or not math.isclose(
            first.factor, unit.factor, rel_tol=SAME
        ):
            raise ModelError(
                f"{location}: {first_text} is in {_unit_label(first)}, but {text} in "
                f"{_unit_label(unit)}"
            )
    if definite:
        return next((p for p, _ in definite if p.dimension.angle), definite[0][0])
    return None if any(p is None for p in operands) else NUMBER


def _anonymous_unit(dimension: Dimension, factor: float) -> Unit:
    return Unit(dimension, factor, "")


def _unit_label(unit: Unit) -> str:
    """A unit in words."""
    if unit.text:
        return unit.text if unit.text != "-" else "no unit"
    scale = "" if math.isclose(unit.factor, 1.0, rel_tol=SAME) else f", times {unit.factor:.6g}"
    if unit.dimension == ONE:
        return f"no unit{scale}"
    return f"{'rad' if unit.dimension == ANGLE else unit.dimension}{scale}"
