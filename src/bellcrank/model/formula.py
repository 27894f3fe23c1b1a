"""Formulas: what a modeller writes, as text or with Python operators, before its meaning is looked up.

Velocities and directions have a meaning only when the whole system is known, so a formula stays syntax until the
description is frozen. Scalars that need no mechanics (parameters, coordinates, numbers) are expressions at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bellcrank.errors import ModelError
from bellcrank.expr import Expr, function, symbols
from bellcrank.expr.function_table import CALLED
from bellcrank.expr.node import operand, undecided
from bellcrank.expr.text import Syntax, parse, postorder_syntax, show
from bellcrank.units import with_unit


def _operator(op: str, mirrored: bool = False) -> Callable[[Formula, Any], Formula]:
    def join(self: Formula, other: Any) -> Formula:
        a, b = (other, self) if mirrored else (self, other)
        return Formula(Syntax(op, (to_syntax(a), to_syntax(b))))

    return join


class Formula:
    """A formula that is evaluated when the description is frozen. Arithmetic works as on paper."""

    __slots__ = ("syntax",)
    __array_ufunc__ = None

    def __init__(self, syntax: Syntax) -> None:
        self.syntax = syntax

    __add__, __radd__ = _operator("+"), _operator("+", mirrored=True)
    __sub__, __rsub__ = _operator("-"), _operator("-", mirrored=True)
    __mul__, __rmul__ = _operator("*"), _operator("*", mirrored=True)
    __truediv__, __rtruediv__ = _operator("/"), _operator("/", mirrored=True)
    __pow__ = _operator("**")
    __lt__, __le__, __gt__, __ge__ = _operator("<"), _operator("<="), _operator(">"), _operator(">=")

    def __bool__(self) -> bool:
        if self.syntax.op in ("<", "<=", ">", ">="):
            raise ModelError(undecided(show(self.syntax)))
        return True

    def __abs__(self) -> Formula:
        return call("abs", self)

    def __neg__(self) -> Formula:
        return Formula(Syntax("neg", (self.syntax,)))

    def __pos__(self) -> Formula:
        return self

    def __str__(self) -> str:
        return show(self.syntax)

    __repr__ = __str__


def to_syntax(value: Any) -> Syntax:
    """Syntax of a number, an expression, a formula, a body or point, or text, which may be a number with its unit."""
    if isinstance(value, Formula):
        return value.syntax
    if isinstance(value, str):
        found = with_unit(value)
        return parse(value) if found is None else Syntax("quantity", found, source=value)
    if isinstance(value, Syntax):
        return value
    number = operand(value)
    return Syntax("value", (number if number is not None else value,))


def names_in(value: Any) -> set[str]:
    """The names that a formula holds, as they are spelled."""
    nodes = list(postorder_syntax(to_syntax(value)))
    expressions = [n.args[0] for n in nodes if n.op == "value" and isinstance(n.args[0], Expr)]
    return {n.args[0] for n in nodes if n.op == "name"} | {s.name for s in symbols(*expressions)}


def call(name: str, *args: Any) -> Formula:
    """A formula that calls a function of the model language."""
    return Formula(Syntax("call", (name, *(to_syntax(a) for a in args))))


def _scalar_function(name: str) -> Any:
    def apply(*args: Any) -> Expr | Formula:
        expressions = [operand(a) for a in args]
        if any(e is None for e in expressions):
            return call(name, *args)
        return function(name, *expressions)  # type: ignore[arg-type]

    apply.__name__ = name
    apply.__doc__ = f"{name}() of numbers, expressions or formulas."
    return apply


SCALAR: dict[str, Callable[..., Any]] = {name: _scalar_function(name) for name in CALLED}


def dot(a: Any, b: Any) -> Formula:
    """Scalar product of two vectors."""
    return call("dot", a, b)


def cross(a: Any, b: Any) -> Formula:
    """Vector product."""
    return call("cross", a, b)


def angle(a: Any, b: Any, about: Any = None) -> Formula:
    """Angle from a to b, positive about the third direction."""
    return call("angle", a, b) if about is None else call("angle", a, b, about)


def direction(v: Any) -> Formula:
    """Unit vector along v."""
    return call("direction", v)


def magnitude(v: Any) -> Formula:
    """Length of a vector."""
    return call("magnitude", v)


norm = magnitude


def project(v: Any, normal: Any) -> Formula:
    """v without its part along `normal`."""
    return call("project", v, normal)


def pos(p: Any, r: Any = None) -> Formula:
    """Vector to point p from r (default: the fixed origin)."""
    return call("pos", p) if r is None else call("pos", p, r)


def vel(p: Any, r: Any = None) -> Formula:
    """Absolute velocity of point p, or relative to the velocity of r."""
    return call("vel", p) if r is None else call("vel", p, r)


def rot(b: Any) -> Formula:
    """Absolute angular velocity of a body."""
    return call("rot", b)


def dxdt(e: Any) -> Formula:
    """Time derivative of a scalar or vector."""
    return call("dxdt", e)


def partial(e: Any, x: Any) -> Formula:
    """Partial derivative of a scalar with respect to a symbol."""
    return call("partial", e, x)


def nominal(e: Any) -> Formula:
    """The value with all coordinates and speeds at zero."""
    return call("nominal", e)


def fm(force: Any) -> Formula:
    """Magnitude of a force or moment."""
    return call("fm", force)
