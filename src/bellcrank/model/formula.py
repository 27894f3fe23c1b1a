"""Formulas: what a modeller writes, as text or with Python operators, before its meaning is looked
up.

Velocities and directions have a meaning only when the whole system is known, so a formula stays
syntax until the description is frozen. Scalars that need no mechanics (parameters, coordinates,
numbers) are expressions at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bellcrank.core.errors import ModelError
from bellcrank.core.units import parse_quantity
from bellcrank.symbolic.expr import Expr, apply_builtin, free_symbols
from bellcrank.symbolic.expr.formula_parser import (
    SyntaxNode,
    parse_formula,
    postorder_syntax,
    syntax_to_text,
)
from bellcrank.symbolic.expr.function_table import CALLED
from bellcrank.symbolic.expr.node import try_expression, undecidable_message


def _formula_operator(op: str, mirrored: bool = False) -> Callable[[Formula, Any], Formula]:
    def combine_operands(self: Formula, other: Any) -> Formula:
        a, b = (other, self) if mirrored else (self, other)
        return Formula(SyntaxNode(op, (to_syntax(a), to_syntax(b))))

    return combine_operands


class Formula:
    """A formula that is evaluated when the description is frozen. Arithmetic works as on paper."""

    __slots__ = ("syntax",)
    __array_ufunc__ = None

    def __init__(self, syntax: SyntaxNode) -> None:
        self.syntax = syntax

    __add__, __radd__ = _formula_operator("+"), _formula_operator("+", mirrored=True)
    __sub__, __rsub__ = _formula_operator("-"), _formula_operator("-", mirrored=True)
    __mul__, __rmul__ = _formula_operator("*"), _formula_operator("*", mirrored=True)
    __truediv__, __rtruediv__ = _formula_operator("/"), _formula_operator("/", mirrored=True)
    __pow__ = _formula_operator("**")
    __lt__, __le__, __gt__, __ge__ = (
        _formula_operator("<"),
        _formula_operator("<="),
        _formula_operator(">"),
        _formula_operator(">="),
    )

    def __bool__(self) -> bool:
        if self.syntax.op in ("<", "<=", ">", ">="):
            raise ModelError(undecidable_message(syntax_to_text(self.syntax)))
        return True

    def __abs__(self) -> Formula:
        return call_formula("abs", self)

    def __neg__(self) -> Formula:
        return Formula(SyntaxNode("neg", (self.syntax,)))

    def __pos__(self) -> Formula:
        return self

    def __str__(self) -> str:
        return syntax_to_text(self.syntax)

    __repr__ = __str__


def to_syntax(value: Any) -> SyntaxNode:
    """Syntax of a number, an expression, a formula, a body or point, or text, which may be a number
    with its unit."""
    if isinstance(value, Formula):
        return value.syntax
    if isinstance(value, str):
        quantity = parse_quantity(value)
        return (
            parse_formula(value)
            if quantity is None
            else SyntaxNode("quantity", quantity, source=value)
        )
    if isinstance(value, SyntaxNode):
        return value
    number = try_expression(value)
    return SyntaxNode("value", (number if number is not None else value,))


def formula_names(value: Any) -> set[str]:
    """The names that a formula holds, as they are spelled."""
    nodes = list(postorder_syntax(to_syntax(value)))
    expressions = [n.args[0] for n in nodes if n.op == "value" and isinstance(n.args[0], Expr)]
    return {n.args[0] for n in nodes if n.op == "name"} | {
        s.name for s in free_symbols(*expressions)
    }


def call_formula(name: str, *args: Any) -> Formula:
    """A formula that calls a function of the model language."""
    return Formula(SyntaxNode("call", (name, *(to_syntax(a) for a in args))))


def _scalar_function(name: str) -> Any:
    def apply_function(*args: Any) -> Expr | Formula:
        expressions = [try_expression(a) for a in args]
        if any(e is None for e in expressions):
            return call_formula(name, *args)
        return apply_builtin(name, *expressions)  # type: ignore[arg-type]

    apply_function.__name__ = name
    apply_function.__doc__ = f"{name}() of numbers, expressions or formulas."
    return apply_function


SCALAR: dict[str, Callable[..., Any]] = {name: _scalar_function(name) for name in CALLED}


def dot(a: Any, b: Any) -> Formula:
    """Return the scalar product of two vectors.

    Parameters
    ----------
    a, b : VectorLike
        The vectors.

    Returns
    -------
    Formula
        The product, in the product of their units.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.dot("[n3]", bc.pos("tip"))
    dot([n3], pos(tip))
    """
    return call_formula("dot", a, b)


def cross(a: Any, b: Any) -> Formula:
    """Return the vector product of two vectors.

    Parameters
    ----------
    a, b : VectorLike
        The vectors.

    Returns
    -------
    Formula
        The vector a x b.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.cross("[n1]", "[n2]")
    cross([n1], [n2])
    """
    return call_formula("cross", a, b)


def angle(a: Any, b: Any, about: Any = None) -> Formula:
    """Return the angle from one vector to another.

    Parameters
    ----------
    a, b : VectorLike
        The vectors.
    about : VectorLike, optional
        Axis about which the angle is positive, from -pi to pi. About the axis of a revolute joint
        it is the angle of the joint, which counts full rotations. Default: the angle has no sign,
        from 0 to pi.

    Returns
    -------
    Formula
        The angle: rad in equations, shown in the angle unit of the system.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.angle("[n1]", "[car1]", "[n3]")
    angle([n1], [car1], [n3])
    """
    return call_formula("angle", a, b) if about is None else call_formula("angle", a, b, about)


def direction(v: Any) -> Formula:
    """Return the unit vector along a vector.

    Parameters
    ----------
    v : VectorLike
        The vector. Its length must not be zero.

    Returns
    -------
    Formula
        The unit vector.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.direction(bc.vel("hub"))
    direction(vel(hub))
    """
    return call_formula("direction", v)


def magnitude(v: Any) -> Formula:
    """Return the length of a vector; `norm` is another name.

    Parameters
    ----------
    v : VectorLike
        The vector.

    Returns
    -------
    Formula
        Its length, in its unit.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.magnitude(bc.vel("hub"))
    magnitude(vel(hub))
    """
    return call_formula("magnitude", v)


norm = magnitude


def project(v: Any, normal: Any) -> Formula:
    """Project a vector onto a plane.

    Parameters
    ----------
    v : VectorLike
        The vector.
    normal : VectorLike
        Normal of the plane.

    Returns
    -------
    Formula
        The vector without its part along `normal`.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.project("[car1]", "[n3]")
    project([car1], [n3])
    """
    return call_formula("project", v, normal)


def pos(p: Any, r: Any = None) -> Formula:
    """Return the position of a point.

    Parameters
    ----------
    p : PointLike
        The point.
    r : PointLike, optional
        The point from which it is measured. Default: the fixed origin.

    Returns
    -------
    Formula
        The vector from r to p (length).

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.pos("tip", "hub")
    pos(tip, hub)
    """
    return call_formula("pos", p) if r is None else call_formula("pos", p, r)


def vel(p: Any, r: Any = None) -> Formula:
    """Return the velocity of a point.

    Parameters
    ----------
    p : PointLike
        The point.
    r : PointLike, optional
        A point whose velocity is subtracted. Default: none; the velocity is absolute.

    Returns
    -------
    Formula
        The vector (length per time).

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.dot(bc.vel("tip"), "[n1]")
    dot(vel(tip), [n1])
    """
    return call_formula("vel", p) if r is None else call_formula("vel", p, r)


def rot(b: Any) -> Formula:
    """Return the absolute angular velocity of a body.

    Parameters
    ----------
    b : BodyLike
        The body.

    Returns
    -------
    Formula
        The vector (angle per time).

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.dot(bc.rot("car"), "[n3]")
    dot(rot(car), [n3])
    """
    return call_formula("rot", b)


def dxdt(e: Any) -> Formula:
    """Return the time derivative of a scalar or vector, in the inertial frame.

    Parameters
    ----------
    e : ScalarLike or VectorLike
        What is differentiated.

    Returns
    -------
    Formula
        The derivative, in its unit per s.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.dxdt(bc.vel("tip"))
    dxdt(vel(tip))
    """
    return call_formula("dxdt", e)


def partial(e: Any, x: Any) -> Formula:
    """Return the partial derivative of a scalar.

    Parameters
    ----------
    e : ScalarLike
        What is differentiated.
    x : ScalarLike
        The coordinate, speed, input or parameter.

    Returns
    -------
    Formula
        The derivative.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.partial("rise", "q(rod)")
    partial(rise, q(rod))
    """
    return call_formula("partial", e, x)


def nominal(e: Any) -> Formula:
    """Return the value of an expression in the reference configuration, with all coordinates and
    speeds zero.

    Parameters
    ----------
    e : ScalarLike
        The expression.

    Returns
    -------
    Formula
        Its value, a constant.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.nominal(bc.magnitude(bc.pos("tip", "hub")))
    nominal(magnitude(pos(tip, hub)))
    """
    return call_formula("nominal", e)


def fm(force: Any) -> Formula:
    """Return the magnitude of a force or moment.

    Parameters
    ----------
    force : ForceHandle or str
        The force or moment.

    Returns
    -------
    Formula
        Its magnitude (force, or force times length).

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.fm("spring")
    fm(spring)
    """
    return call_formula("fm", force)
