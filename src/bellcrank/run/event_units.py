"""Units of what the actions of events set, checked as far as they are definite: values there are in user units.

A bare number takes the unit that its sum needs; through one that multiplies, nothing is known any more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from bellcrank.errors import ModelError
from bellcrank.expr.function_table import CALLED
from bellcrank.expr.text import Syntax, evaluate_syntax, show
from bellcrank.names import find_name
from bellcrank.units import ANGLE, ONE, Dimension, Unit

NUMBER = "number"
Found = Unit | str | None  # None: not known
SAME = 1e-9  # share by which factors of one unit may differ


def check_units(syntax: Syntax, units: Mapping[str, Unit], target: Unit, where: str) -> None:
    """An error if a formula over quantities with units cannot be a value of what it is to set."""

    def meaning(node: Syntax, parts: list[Any]) -> Found:
        found = find_name(show(node), units) if node.op in ("name", "call") else None
        if found is not None:
            return None if units[found].text == "?" else units[found]
        if node.op in ("name", "number"):
            return NUMBER
        return _joined(node, parts, where)

    _alike([evaluate_syntax(syntax, meaning), target], [show(syntax), "what it sets"], where)


def _joined(node: Syntax, parts: list[Found], where: str) -> Found:
    """The unit of an operation or a function."""
    op = str(node.args[0]).lower() if node.op == "call" else node.op
    texts = [show(c) for c in node.children]
    if op == "neg":
        return parts[0]
    if op in ("+", "-"):
        return _alike(parts, texts, where)
    if op in ("*", "/"):
        a, b = parts
        if not isinstance(a, Unit) or not isinstance(b, Unit):
            return NUMBER if a == b == NUMBER else None
        d = a.dimension * b.dimension if op == "*" else a.dimension / b.dimension
        return _unit(d, a.factor * b.factor if op == "*" else a.factor / b.factor)
    if op in ("**", "^"):
        base, power = parts[0], node.children[1]
        if not isinstance(base, Unit) or power.op != "number":
            return NUMBER if base == NUMBER else None
        exponent = Fraction(power.args[0]).limit_denominator(12)
        return _unit(base.dimension**exponent, base.factor ** float(exponent))
    if op not in CALLED:
        return None
    return _called(op, parts, texts, where)


def _called(op: str, parts: list[Found], texts: list[str], where: str) -> Found:
    taken, given = CALLED[op].kinds
    kinds = [taken[min(i, len(taken) - 1)] for i in range(len(parts))]
    for kind, part, text in zip(kinds, parts, texts, strict=True):
        if kind in ("1", "A") and isinstance(part, Unit):
            _alike([part, _unit(ANGLE if kind == "A" else ONE, 1.0)], [text, f"what {op} takes"], where)
    same = [(p, t) for k, p, t in zip(kinds, parts, texts, strict=True) if k == "x"]
    x = _alike([p for p, _ in same], [t for _, t in same], where) if same else None
    if given == "x":
        return x
    if given.startswith("x**") and isinstance(x, Unit):
        power = Fraction(given[3:].strip("()"))
        return _unit(x.dimension**power, x.factor ** float(power))
    return _unit(ANGLE if given == "A" else ONE, 1.0) if given in ("1", "A") else None


def _alike(parts: Sequence[Found], texts: Sequence[str], where: str) -> Found:
    """The unit of parts that must have one."""
    known = [(p, t) for p, t in zip(parts, texts, strict=True) if isinstance(p, Unit)]
    for unit, text in known[1:]:
        first, other = known[0]
        if not first.dimension.same_kind(unit.dimension) or not math.isclose(first.factor, unit.factor, rel_tol=SAME):
            raise ModelError(f"{where}: {other} is in {_unit_text(first)}, but {text} in {_unit_text(unit)}")
    if known:
        return next((p for p, _ in known if p.dimension.angle), known[0][0])
    return None if any(p is None for p in parts) else NUMBER


def _unit(dimension: Dimension, factor: float) -> Unit:
    return Unit(dimension, factor, "")


def _unit_text(unit: Unit) -> str:
    """A unit in words."""
    if unit.text:
        return unit.text if unit.text != "-" else "no unit"
    scale = "" if math.isclose(unit.factor, 1.0, rel_tol=SAME) else f", times {unit.factor:.6g}"
    if unit.dimension == ONE:
        return f"no unit{scale}"
    return f"{'rad' if unit.dimension == ANGLE else unit.dimension}{scale}"
